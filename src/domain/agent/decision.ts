import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EventPayloadSchema, EventType } from "../../../gen/retinue/v1/event_pb.js";
import type { Agent } from "./agent.js";
import type { ChildNotice } from "./child-notice.js";
import type { Limits } from "./limits.js";

/** What a decision may know beside the agent and its input. */
export interface Context {
  readonly nowMs: number;
  readonly limits: Limits;
  /** Somebody else waits for the slot (or no new turns are wanted): a turn that ends gives it back. */
  readonly slotWanted: boolean;
  /** From the parent up; asked for their budgets where the agent, about to start a turn, has none itself. */
  readonly ancestors: readonly Agent[];
}

export type EventDetail = Exclude<
  NonNullable<MessageInitShape<typeof EventPayloadSchema>["kind"]>,
  { case: undefined }
>;

/** An event of the timeline without what the commit adds: seq, id, time and agent. */
export interface DomainEvent {
  readonly type: EventType;
  /** 0 outside of a run. */
  readonly runId: number;
  readonly attempt: number;
  /** Set where the event is not the doing of whoever made the commit. */
  readonly actor: "system" | undefined;
  readonly detail: EventDetail;
}

/** What a command or event leads to: one commit. */
export interface Decision<R = undefined> {
  readonly agent: Agent;
  /** In order; a terminal phase is the last. */
  readonly events: readonly DomainEvent[];
  readonly reply: R;
  /** For the parent, in the same commit, through `childNotified`. */
  readonly toParent: readonly ChildNotice[];
  /** The agent failed: what lives below it goes to STOPPING in the same commit. */
  readonly stopDescendants: boolean;
}

/** Reply of whatever a runner reports: a late report changes nothing. */
export interface Reported {
  readonly stale: boolean;
}

/** A decision in the making; never leaves the function that opened it. */
export interface Draft {
  agent: Agent;
  readonly events: DomainEvent[];
  readonly toParent: ChildNotice[];
  stopDescendants: boolean;
}

export function openDraft(agent: Agent): Draft {
  return { agent, events: [], toParent: [], stopDescendants: false };
}

export function change(draft: Draft, patch: Partial<Agent>): void {
  draft.agent = { ...draft.agent, ...patch };
}

/** Appends an event of the run that is held now. */
export function record(draft: Draft, type: EventType, detail: EventDetail, actor?: "system"): void {
  const turn = draft.agent.turn;
  draft.events.push({ type, runId: turn?.runId ?? 0, attempt: turn?.attempt ?? 0, actor, detail });
}

export function decided<R>(draft: Draft, reply: R): Decision<R> {
  const { agent, events, toParent, stopDescendants } = draft;
  return { agent, events, reply, toParent, stopDescendants };
}

export function unchanged<R>(agent: Agent, reply: R): Decision<R> {
  return decided(openDraft(agent), reply);
}
