import type { WriteStatement } from "./statements.js";

/** What the writer can do to webhooks, deliveries of code hosts and schedules. */
export const automationWriteStatements = {
  putWebhookCursor: {
    sql: `
      INSERT INTO webhook_cursor (uid, integration, created_at_ms, seq) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET seq = excluded.seq`,
    mustWriteOneRow: true,
  },
  putPullRequest: {
    sql: `
      INSERT INTO pull_request (tenant, integration, repo, number, branch) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET branch = excluded.branch`,
    mustWriteOneRow: true,
  },
  putScheduleRun: {
    sql: `
      INSERT INTO schedule_run (tenant, name, due_at_ms, uid, message_id, error) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE
      SET due_at_ms = excluded.due_at_ms, uid = excluded.uid, message_id = excluded.message_id,
          error = excluded.error`,
    mustWriteOneRow: true,
  },
} as const satisfies Record<string, WriteStatement>;
