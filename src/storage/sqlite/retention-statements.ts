import type { WriteStatement } from "./statements.js";

/** What the writer can do to what is over. */
export const retentionWriteStatements = {
  // Writes nothing, and thereby fails the commit, where the agent lives or has processes left.
  removeAgent: {
    sql: "DELETE FROM agent WHERE uid = ? AND live = 0 AND unsettled = 0",
    mustWriteOneRow: true,
  },
  beginPurge: { sql: "INSERT INTO purge (uid) VALUES (?) ON CONFLICT DO NOTHING", mustWriteOneRow: false },
  endPurge: { sql: "DELETE FROM purge WHERE uid = ?", mustWriteOneRow: false },
  removeEvents: {
    sql: "DELETE FROM event WHERE uid = ? AND seq IN (SELECT seq FROM event WHERE uid = ? ORDER BY seq LIMIT ?)",
    mustWriteOneRow: false,
  },
  removeFollowUps: {
    sql: `
      DELETE FROM follow_up
      WHERE uid = ? AND follow_up_id IN (SELECT follow_up_id FROM follow_up WHERE uid = ? LIMIT ?)`,
    mustWriteOneRow: false,
  },
  removeUsage: { sql: "DELETE FROM usage WHERE uid = ?", mustWriteOneRow: false },
  removeCursors: { sql: "DELETE FROM webhook_cursor WHERE uid = ?", mustWriteOneRow: false },
  removePushes: { sql: "DELETE FROM push WHERE uid = ?", mustWriteOneRow: false },
  removeTexts: { sql: "DELETE FROM agent_texts WHERE uid = ?", mustWriteOneRow: false },
  removeTasks: { sql: "DELETE FROM agent_tasks WHERE uid = ?", mustWriteOneRow: false },
  removeSession: { sql: "DELETE FROM session WHERE uid = ?", mustWriteOneRow: false },
  removeSpawnRequests: { sql: "DELETE FROM spawn_request WHERE at_ms < ?", mustWriteOneRow: false },
} as const satisfies Record<string, WriteStatement>;
