import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { UsageSchema } from "../../../gen/retinue/v1/agent_pb.js";
import { EventPayloadSchema, EventType } from "../../../gen/retinue/v1/event_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import type { Agent } from "../../domain/agent/agent.js";
import type { Decision as AgentDecision, DomainEvent } from "../../domain/agent/decision.js";
import type { FollowUp } from "../../domain/agent/follow-up.js";
import type { Change } from "../../storage/store.js";
import { cutPayload } from "./event-payload.js";
import { rowOf } from "./rows.js";
import type { Moment } from "./stage.js";
import { type AgentValue, keys, type Value } from "./values.js";

const SETTLED: Partial<Record<EventType, FollowUpState>> = {
  [EventType.FOLLOW_UP_DELIVERED]: FollowUpState.DELIVERED,
  [EventType.FOLLOW_UP_CLEARED]: FollowUpState.CLEARED,
  [EventType.FOLLOW_UP_REMOVED]: FollowUpState.REMOVED,
};

/**
 * What a decision writes: the agent's row, its events, and of its messages and tasks exactly those that are not the
 * same object as before. Appends to `changes` and `values`; returns the agent's new value.
 */
export function changesOf(
  before: AgentValue | undefined,
  decision: AgentDecision<unknown>,
  moment: Moment,
  changes: Change[],
  values: Map<string, Value>,
): AgentValue {
  const { agent, events } = decision;
  const firstSeq = (before?.lastSeq ?? 0) + 1;
  const value = { agent, version: (before?.version ?? 0) + 1, lastSeq: firstSeq - 1 + events.length };
  // The row comes first: its precondition decides whether the rest is written at all.
  changes.push({ type: "agent", row: rowOf(value), ifVersion: before?.version ?? 0 });
  if (before === undefined) {
    const { uid, description, expectedOutput } = agent;
    changes.push({ type: "agentTexts", row: { uid, description, expectedOutput } });
  }
  if (agent.tasks !== before?.agent.tasks) {
    changes.push({ type: "tasks", uid: agent.uid, tasks: JSON.stringify(agent.tasks) });
  }
  const accepted = new Map<string, number>();
  events.forEach((event, i) => {
    changes.push(eventChange(agent, event, firstSeq + i, moment));
    if (event.detail.case === "usage") changes.push(usageChange(agent, event, event.detail.value, moment));
    const followUpId = event.detail.case === "followUp" ? event.detail.value.followUp?.followUpId : undefined;
    if (followUpId === undefined) return;
    if (!accepted.has(followUpId)) accepted.set(followUpId, firstSeq + i);
    const state = SETTLED[event.type];
    if (state !== undefined)
      settleFollowUp(before?.agent, agent, followUpId, state, event.runId, changes, values);
  });
  writeFollowUps(before?.agent, agent, accepted, changes);
  return value;
}

function eventChange(agent: Agent, event: DomainEvent, seq: number, moment: Moment): Change {
  const whole = create(EventPayloadSchema, { kind: event.detail });
  const payload = cutPayload(moment.masks.payload(agent.uid, whole));
  return {
    type: "event",
    row: {
      uid: agent.uid,
      seq,
      eventId: moment.newId(),
      atMs: moment.nowMs,
      type: event.type,
      runId: event.runId,
      attempt: event.attempt,
      actor: event.actor ?? moment.actor,
      payload: toBinary(EventPayloadSchema, payload),
    },
  };
}

/** The ledger adds up the log: the event's place in it can be written once only, and so can this. */
function usageChange(
  agent: Agent,
  { runId, attempt }: DomainEvent,
  used: MessageInitShape<typeof UsageSchema>,
  { nowMs }: Moment,
): Change {
  return {
    type: "usage",
    row: {
      uid: agent.uid,
      runId,
      attempt,
      model: agent.settings.values.model,
      inputTokens: Number(used.inputTokens ?? 0),
      cachedInputTokens: Number(used.cachedInputTokens ?? 0),
      outputTokens: Number(used.outputTokens ?? 0),
      cost: used.cost ?? 0,
      atMs: nowMs,
    },
  };
}

/** Messages that wait, and are new or changed. */
function writeFollowUps(
  before: Agent | undefined,
  after: Agent,
  accepted: Map<string, number>,
  changes: Change[],
): void {
  if (before?.queued === after.queued && before.deferred === after.deferred) return;
  const waiting = [...(before?.queued ?? []), ...(before?.deferred ?? [])];
  const known = new Set<FollowUp>(waiting);
  for (const followUp of [...after.queued, ...after.deferred]) {
    if (known.has(followUp)) continue;
    const isNew = !waiting.some(({ followUpId }) => followUpId === followUp.followUpId);
    changes.push({
      type: "followUp",
      row: {
        uid: after.uid,
        followUpId: followUp.followUpId,
        state: followUp.state,
        pending: true,
        fingerprint: followUp.fingerprint,
        runId: 0,
        seq: isNew ? (accepted.get(followUp.followUpId) ?? 0) : 0,
        body: JSON.stringify(followUp),
      },
    });
  }
}

/** A message that waits no more: its ID stays taken, unless it was removed. */
function settleFollowUp(
  before: Agent | undefined,
  after: Agent,
  followUpId: string,
  state: FollowUpState,
  runId: number,
  changes: Change[],
  values: Map<string, Value>,
): void {
  const { uid } = after;
  const key = keys.followUp(uid, followUpId);
  if (state === FollowUpState.REMOVED) {
    changes.push({ type: "followUpRemoved", uid, followUpId });
    values.set(key, { sort: "followUp", value: undefined });
    return;
  }
  const waited = [...(before?.queued ?? []), ...(before?.deferred ?? [])].find(
    (f) => f.followUpId === followUpId,
  );
  const record = { followUpId, state, fingerprint: waited?.fingerprint ?? "", runId };
  changes.push({
    type: "followUp",
    row: { uid, ...record, pending: false, seq: 0, body: JSON.stringify(waited) },
  });
  values.set(key, { sort: "followUp", value: record });
}
