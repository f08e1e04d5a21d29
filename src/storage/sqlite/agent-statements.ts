import type { WriteStatement } from "./statements.js";

/** What the writer can do to agents. */
export const agentWriteStatements = {
  // Stale, too, when a live agent is at the path: the index says so.
  insertAgent: {
    sql: `
      INSERT INTO agent (
        uid, tenant, owner_provider, account, workspace, path, parent_uid, phase, live, unsettled,
        version, last_seq, created_at_ms, ended_at_ms, state
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING`,
    mustWriteOneRow: true,
  },
  updateAgent: {
    sql: `
      UPDATE agent
      SET phase = ?, live = ?, unsettled = ?, version = ?, last_seq = ?, ended_at_ms = ?, state = ?
      WHERE uid = ? AND version = ?`,
    mustWriteOneRow: true,
  },
  putAgentTexts: {
    sql: `
      INSERT INTO agent_texts (uid, description, expected_output) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET description = excluded.description, expected_output = excluded.expected_output`,
    mustWriteOneRow: true,
  },
  putTasks: {
    sql: `
      INSERT INTO agent_tasks (uid, tasks) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET tasks = excluded.tasks`,
    mustWriteOneRow: true,
  },
  putFollowUp: {
    sql: `
      INSERT INTO follow_up (uid, follow_up_id, state, pending, fingerprint, run_id, seq, body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE
      SET state = excluded.state, pending = excluded.pending, fingerprint = excluded.fingerprint,
          run_id = excluded.run_id, seq = iif(excluded.seq = 0, seq, excluded.seq), body = excluded.body`,
    mustWriteOneRow: true,
  },
  removeFollowUp: {
    sql: "DELETE FROM follow_up WHERE uid = ? AND follow_up_id = ?",
    mustWriteOneRow: true,
  },
  // Writes nothing, and thereby fails the commit, where the log would get a gap or an entry twice.
  appendEvent: {
    sql: `
      INSERT INTO event (uid, seq, event_id, at_ms, type, run_id, attempt, actor, payload)
      SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?
      WHERE ? = (SELECT coalesce(max(seq), 0) + 1 FROM event WHERE uid = ?)`,
    mustWriteOneRow: true,
  },
  putSpawnRequest: {
    sql: `
      INSERT INTO spawn_request (tenant, owner_provider, account, request_id, fingerprint, uid, at_ms)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint, uid = excluded.uid, at_ms = excluded.at_ms`,
    mustWriteOneRow: true,
  },
  insertProcess: {
    sql: "INSERT INTO process (token, uid, started_at_ms) VALUES (?, ?, ?)",
    mustWriteOneRow: true,
  },
  removeProcess: {
    sql: "DELETE FROM process WHERE token = ?",
    mustWriteOneRow: false,
  },
  addUsage: {
    sql: `
      INSERT INTO usage (
        uid, run_id, attempt, model, input_tokens, cached_input_tokens, output_tokens, cost, at_ms
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE
      SET model = excluded.model, input_tokens = input_tokens + excluded.input_tokens,
          cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
          output_tokens = output_tokens + excluded.output_tokens, cost = round(cost + excluded.cost, 9), at_ms = excluded.at_ms`,
    mustWriteOneRow: true,
  },
  putPush: {
    sql: `
      INSERT INTO push (uid, repo, branch, url, commit_id, pushed_at_ms, due_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE
      SET url = excluded.url, commit_id = excluded.commit_id, pushed_at_ms = excluded.pushed_at_ms,
          attempts = 0, due_at_ms = excluded.due_at_ms, error = ''`,
    mustWriteOneRow: true,
  },
  pushForwarded: {
    sql: "UPDATE push SET forwarded_commit = ?, error = '' WHERE uid = ? AND repo = ? AND branch = ?",
    mustWriteOneRow: false,
  },
  pushFailed: {
    sql: `
      UPDATE push SET attempts = ?, due_at_ms = ?, error = ?
      WHERE uid = ? AND repo = ? AND branch = ? AND commit_id = ?`,
    mustWriteOneRow: false,
  },
  putSession: {
    sql: `
      INSERT INTO session (uid, session_ref, cost_so_far) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET session_ref = excluded.session_ref, cost_so_far = excluded.cost_so_far`,
    mustWriteOneRow: true,
  },
} as const satisfies Record<string, WriteStatement>;
