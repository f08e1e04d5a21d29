import { EventType } from "../../../gen/retinue/v1/event_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import type { Agent } from "./agent.js";
import {
  type Context,
  change,
  type Decision,
  type Draft,
  decided,
  openDraft,
  unchanged,
} from "./decision.js";
import type { FollowUp } from "./follow-up.js";
import { isTerminal } from "./phase.js";
import { clearQueued, promoteDue, recordFollowUp } from "./queue.js";
import { settle } from "./settle.js";

/** Takes back one undelivered message, deferred or queued; its ID is free again. Idempotent. */
export function removeFollowUp(
  agent: Agent,
  followUpId: string,
  context: Context,
): Decision<{ readonly removed: boolean }> {
  if (isTerminal(agent.phase)) return unchanged(agent, { removed: false });
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  const removed = dropFollowUps(draft, (followUp) => followUp.followUpId === followUpId);
  settle(draft, context);
  return decided(draft, { removed: removed.length > 0 });
}

/** Discards every QUEUED message; deferred ones survive. */
export function clearFollowUps(agent: Agent, context: Context): Decision<{ readonly cleared: number }> {
  if (isTerminal(agent.phase)) return unchanged(agent, { cleared: 0 });
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  const cleared = clearQueued(draft, "cleared by a caller");
  settle(draft, context);
  return decided(draft, { cleared: cleared.length });
}

export function dropFollowUps(
  draft: Draft,
  wanted: (followUp: FollowUp) => boolean,
  reason = "",
): FollowUp[] {
  const { queued, deferred } = draft.agent;
  const dropped = [...queued, ...deferred].filter(wanted);
  if (dropped.length === 0) return dropped;
  const keep = (followUp: FollowUp) => !dropped.includes(followUp);
  change(draft, {
    queued: queued.every(keep) ? queued : queued.filter(keep),
    deferred: deferred.every(keep) ? deferred : deferred.filter(keep),
  });
  for (const followUp of dropped) {
    recordFollowUp(draft, EventType.FOLLOW_UP_REMOVED, followUp, FollowUpState.REMOVED, 0, reason);
  }
  return dropped;
}
