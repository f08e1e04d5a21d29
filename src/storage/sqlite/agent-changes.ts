import type {
  AgentRow,
  AgentStoreChange,
  EventRow,
  FollowUpRow,
  SpawnRequestRow,
  UsageRow,
} from "../agent-rows.js";
import { type EncodedCommit, step } from "./step.js";

export function encodeAgentChange(out: EncodedCommit, index: number, change: AgentStoreChange): void {
  switch (change.type) {
    case "agent":
      encodeAgent(out, index, change.row, change.ifVersion);
      break;
    case "agentTexts":
      step(out, "putAgentTexts", index).push(
        change.row.uid,
        change.row.description,
        change.row.expectedOutput,
      );
      break;
    case "tasks":
      step(out, "putTasks", index).push(change.uid, change.tasks);
      break;
    case "followUp":
      encodeFollowUp(out, index, change.row);
      break;
    case "followUpRemoved":
      step(out, "removeFollowUp", index).push(change.uid, change.followUpId);
      break;
    case "event":
      encodeEvent(out, index, change.row);
      break;
    case "process":
      step(out, "insertProcess", index).push(change.row.token, change.row.uid, change.row.startedAtMs);
      break;
    case "processGone":
      step(out, "removeProcess", index).push(change.token);
      break;
    case "session":
      step(out, "putSession", index).push(change.row.uid, change.row.sessionRef, change.row.costSoFar);
      break;
    case "usage":
      encodeUsage(out, index, change.row);
      break;
    case "push": {
      const { uid, repo, branch, url, commit, pushedAtMs } = change.row;
      step(out, "putPush", index).push(uid, repo, branch, url, commit, pushedAtMs, pushedAtMs);
      break;
    }
    case "pushForwarded": {
      const { uid, repo, branch, forwardedCommit } = change.row;
      step(out, "pushForwarded", index).push(forwardedCommit, uid, repo, branch);
      break;
    }
    case "pushFailed": {
      const { uid, repo, branch, commit, attempts, dueAtMs, error } = change.row;
      step(out, "pushFailed", index).push(attempts, dueAtMs, error, uid, repo, branch, commit);
      break;
    }
    case "spawnRequest":
      encodeSpawnRequest(out, index, change.row);
      break;
    case "agentGone":
      step(out, "removeAgent", index).push(change.uid);
      step(out, "beginPurge", index).push(change.uid);
      break;
    case "agentRowsGone":
      encodeRowsGone(out, index, change.uid, change.limit);
      break;
    case "purged":
      step(out, "endPurge", index).push(change.uid);
      break;
    case "spawnRequestsGone":
      step(out, "removeSpawnRequests", index).push(change.beforeMs);
      break;
    default:
      change satisfies never;
  }
}

function encodeAgent(out: EncodedCommit, index: number, row: AgentRow, ifVersion: number): void {
  const live = row.live ? 1 : 0;
  const unsettled = row.unsettled ? 1 : 0;
  const { uid, tenant, ownerProvider, account, workspace, path, parentUid } = row;
  const { phase, version, lastSeq, createdAtMs, state } = row;
  const endedAtMs = row.endedAtMs ?? null;
  if (ifVersion === 0) {
    const identity = [uid, tenant, ownerProvider, account, workspace, path, parentUid];
    const moving = [phase, live, unsettled, version, lastSeq, createdAtMs, endedAtMs, state];
    step(out, "insertAgent", index).push(...identity, ...moving);
    return;
  }
  const moving = [phase, live, unsettled, version, lastSeq, endedAtMs, state];
  step(out, "updateAgent", index).push(...moving, uid, ifVersion);
}

function encodeFollowUp(out: EncodedCommit, index: number, row: FollowUpRow): void {
  const { uid, followUpId, state, pending, fingerprint, runId, seq, body } = row;
  step(out, "putFollowUp", index).push(
    uid,
    followUpId,
    state,
    pending ? 1 : 0,
    fingerprint,
    runId,
    seq,
    body,
  );
}

function encodeEvent(out: EncodedCommit, index: number, row: EventRow): void {
  const { uid, seq, eventId, atMs, type, runId, attempt, actor, payload } = row;
  const columns = [uid, seq, eventId, atMs, type, runId, attempt, actor, payload];
  step(out, "appendEvent", index).push(...columns, seq, uid);
}

function encodeUsage(out: EncodedCommit, index: number, row: UsageRow): void {
  const { uid, runId, attempt, model, inputTokens, cachedInputTokens, outputTokens, cost, atMs } = row;
  const used = [inputTokens, cachedInputTokens, outputTokens, cost];
  step(out, "addUsage", index).push(uid, runId, attempt, model, ...used, atMs);
}

function encodeSpawnRequest(out: EncodedCommit, index: number, row: SpawnRequestRow): void {
  const { tenant, ownerProvider, account, requestId, fingerprint, uid, atMs } = row;
  step(out, "putSpawnRequest", index).push(tenant, ownerProvider, account, requestId, fingerprint, uid, atMs);
}

function encodeRowsGone(out: EncodedCommit, index: number, uid: string, limit: number): void {
  step(out, "removeEvents", index).push(uid, uid, limit);
  step(out, "removeFollowUps", index).push(uid, uid, limit);
  for (const rows of ["removeUsage", "removeCursors", "removePushes"] as const) {
    step(out, rows, index).push(uid);
  }
  step(out, "removeTexts", index).push(uid);
  step(out, "removeTasks", index).push(uid);
  step(out, "removeSession", index).push(uid);
}
