import type { AutomationChange } from "../automation-rows.js";
import { type EncodedCommit, step } from "./step.js";

export function encodeAutomationChange(out: EncodedCommit, index: number, change: AutomationChange): void {
  switch (change.type) {
    case "webhookCursor": {
      const { uid, integration, createdAtMs, seq } = change.row;
      step(out, "putWebhookCursor", index).push(uid, integration, createdAtMs, seq);
      break;
    }
    case "pullRequest": {
      const { tenant, integration, repo, number, branch } = change.row;
      step(out, "putPullRequest", index).push(tenant, integration, repo, number, branch);
      break;
    }
    case "scheduleRun": {
      const { tenant, name, dueAtMs, uid, messageId, error } = change.row;
      step(out, "putScheduleRun", index).push(tenant, name, dueAtMs, uid, messageId, error);
      break;
    }
    default:
      change satisfies never;
  }
}
