import type {
  AutomationReads,
  PullRequestRow,
  ScheduleRunRow,
  WebhookCursorRow,
} from "../automation-rows.js";
import type { Connection } from "./connection.js";

export function createAutomationReads(db: Connection): AutomationReads {
  const webhookCursor = db.prepare<[string, string, number], WebhookCursorRow>(
    `SELECT uid, integration, created_at_ms AS createdAtMs, seq FROM webhook_cursor
     WHERE uid = ? AND integration = ? AND created_at_ms = ?`,
  );
  // Two looks, each by an index of its own: live agents are few, and so are those that ended since.
  const backlog = db
    .prepare<unknown[], string>(
      `SELECT uid FROM (
         SELECT uid, last_seq FROM agent INDEXED BY agent_live_tree WHERE tenant = ? AND live = 1
         UNION ALL
         SELECT uid, last_seq FROM agent INDEXED BY agent_ended
         WHERE tenant = ? AND live = 0 AND ended_at_ms >= ?
       ) AS agents
       WHERE uid > ? AND last_seq > coalesce((
         SELECT seq FROM webhook_cursor AS c
         WHERE c.uid = agents.uid AND c.integration = ? AND c.created_at_ms = ?
       ), 0)
       ORDER BY uid LIMIT ?`,
    )
    .pluck();
  const pullRequest = db.prepare<[string, string, string, number], PullRequestRow>(
    `SELECT tenant, integration, repo, number, branch FROM pull_request
     WHERE tenant = ? AND integration = ? AND repo = ? AND number = ?`,
  );
  const scheduleRun = db.prepare<[string, string], ScheduleRunRow>(
    `SELECT tenant, name, due_at_ms AS dueAtMs, uid, message_id AS messageId, error FROM schedule_run
     WHERE tenant = ? AND name = ?`,
  );
  return {
    async webhookCursor({ uid, integration, createdAtMs }) {
      return webhookCursor.get(uid, integration, createdAtMs);
    },
    async webhookBacklog({ tenant, integration, createdAtMs, afterUid, limit }) {
      return backlog.all(tenant, tenant, createdAtMs, afterUid, integration, createdAtMs, limit);
    },
    async pullRequest({ tenant, integration, repo, number }) {
      return pullRequest.get(tenant, integration, repo, number);
    },
    async scheduleRun(tenant, name) {
      return scheduleRun.get(tenant, name);
    },
  };
}
