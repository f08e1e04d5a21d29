import type { RetentionReads } from "../agent-rows.js";
import type { Connection } from "./connection.js";

/** Everything below an agent, with its depth. */
const BELOW = `
  WITH RECURSIVE below(uid, depth) AS (
    SELECT uid, 1 FROM agent WHERE parent_uid = :uid AND parent_uid <> ''
    UNION ALL
    SELECT child.uid, depth + 1 FROM agent AS child JOIN below ON child.parent_uid = below.uid
    WHERE child.parent_uid <> ''
  )`;

export function createRetentionReads(db: Connection): RetentionReads {
  const roots = db
    .prepare<[string, number], string>(
      `SELECT uid FROM agent INDEXED BY agent_ended_root
       WHERE tenant = ? AND parent_uid = '' AND live = 0 AND ended_at_ms < ? AND unsettled = 0
       ORDER BY ended_at_ms`,
    )
    .pluck();
  const holds = db
    .prepare<[{ uid: string; beforeMs: number }], number>(
      `${BELOW} SELECT EXISTS (
         SELECT 1 FROM agent WHERE uid IN (SELECT uid FROM below)
         AND (live = 1 OR unsettled = 1 OR ended_at_ms >= :beforeMs)
       )`,
    )
    .pluck();
  const tree = db
    .prepare<[{ uid: string }], string>(`${BELOW} SELECT uid FROM below ORDER BY depth DESC`)
    .pluck();
  const purging = db.prepare<[], string>("SELECT uid FROM purge").pluck();
  const hasRows = db
    .prepare<[string, string], number>(
      "SELECT EXISTS (SELECT 1 FROM event WHERE uid = ?) OR EXISTS (SELECT 1 FROM follow_up WHERE uid = ?)",
    )
    .pluck();

  return {
    async endedTrees(tenant, beforeMs, limit) {
      const found: string[] = [];
      // Stepped through, not fetched: a tree that is held back by a child must not hold up the ones behind it.
      for (const uid of roots.iterate(tenant, beforeMs)) {
        if (holds.get({ uid, beforeMs }) === 1) continue;
        if (found.push(uid) === limit) break;
      }
      return found;
    },
    treeOf: async (uid) => [...tree.all({ uid }), uid],
    purging: async () => purging.all(),
    hasRows: async (uid) => hasRows.get(uid, uid) === 1,
  };
}
