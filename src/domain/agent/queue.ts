import { EventType } from "../../../gen/retinue/v1/event_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import { change, type Draft, record } from "./decision.js";
import { type FollowUp, followUpMessage } from "./follow-up.js";

/**
 * Moves what is due from the deferred list to the end of the queue, by (deliverAt, arrival), in any phase.
 * Every decision begins with it, so that no answer depends on when the timer fired.
 */
export function promoteDue(draft: Draft, nowMs: number): void {
  const due = draft.agent.deferred.filter((followUp) => (followUp.deliverAtMs ?? 0) <= nowMs);
  if (due.length === 0) return;
  change(draft, { deferred: draft.agent.deferred.slice(due.length) });
  for (const followUp of due) enqueue(draft, followUp, "system");
}

/** Puts a message at the end of the queue. */
export function enqueue(draft: Draft, followUp: FollowUp, actor?: "system"): void {
  const { queued, counters } = draft.agent;
  const place = counters.places + 1;
  const entry: FollowUp = { ...followUp, state: FollowUpState.QUEUED, place };
  change(draft, { queued: [...queued, entry], counters: { ...counters, places: place } });
  recordFollowUp(
    draft,
    EventType.FOLLOW_UP_QUEUED,
    entry,
    FollowUpState.QUEUED,
    queued.length + 1,
    "",
    actor,
  );
}

/** Puts a message among the deferred ones, by (deliverAt, arrival). */
export function defer(draft: Draft, followUp: FollowUp): void {
  const { deferred } = draft.agent;
  const dueMs = followUp.deliverAtMs ?? 0;
  const after = deferred.findIndex((other) => (other.deliverAtMs ?? 0) > dueMs);
  const at = after === -1 ? deferred.length : after;
  change(draft, { deferred: [...deferred.slice(0, at), followUp, ...deferred.slice(at)] });
  recordFollowUp(draft, EventType.FOLLOW_UP_DEFERRED, followUp, FollowUpState.DEFERRED, 0);
}

export function recordFollowUp(
  draft: Draft,
  type: EventType,
  followUp: FollowUp,
  state: FollowUpState,
  position: number,
  reason = "",
  actor?: "system",
): void {
  const value = { followUp: followUpMessage(followUp, state, position), reason };
  record(draft, type, { case: "followUp", value }, actor);
}

/** Discards every QUEUED message; deferred ones survive. */
export function clearQueued(draft: Draft, reason: string): FollowUp[] {
  const cleared = [...draft.agent.queued];
  if (cleared.length > 0) change(draft, { queued: [] });
  recordCleared(draft, cleared, reason);
  return cleared;
}

/** Discards everything undelivered, deferred or queued: the agent ends. */
export function clearUndelivered(draft: Draft, reason: string): void {
  const { queued, deferred } = draft.agent;
  if (queued.length + deferred.length > 0) change(draft, { queued: [], deferred: [] });
  recordCleared(draft, [...queued, ...deferred], reason);
}

function recordCleared(draft: Draft, cleared: readonly FollowUp[], reason: string): void {
  for (const followUp of cleared) {
    recordFollowUp(draft, EventType.FOLLOW_UP_CLEARED, followUp, FollowUpState.CLEARED, 0, reason);
  }
}
