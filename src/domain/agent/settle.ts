import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import { type Agent, owesMessageZero } from "./agent.js";
import { spentInChain } from "./budget.js";
import {
  type Context,
  change,
  type Decision,
  type Draft,
  decided,
  openDraft,
  unchanged,
} from "./decision.js";
import { isAlive, moveTo } from "./phase.js";
import { promoteDue } from "./queue.js";
import { restOf } from "./rest.js";
import type { Fence } from "./turn.js";
import { startTurn } from "./turn-start.js";

/** A slot was granted. The reply is the fence of the turn that holds it; undefined: the slot is free again. */
export function slotGranted(agent: Agent, context: Context): Decision<Fence | undefined> {
  if (agent.phase !== Phase.PENDING || !mayStart(agent, context.nowMs)) return unchanged(agent, undefined);
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  startOrHold(draft, context);
  const { turn } = draft.agent;
  return decided(draft, turn && { runId: turn.runId, attempt: turn.attempt });
}

/** Whether a PENDING agent may take a slot now, rather than wait for `startAt`. */
export function mayStart(agent: Agent, nowMs: number): boolean {
  return !owesMessageZero(agent) || (agent.startAtMs ?? 0) <= nowMs;
}

/**
 * Brings an agent without a turn to where it belongs; the last step of every decision. An agent whose turn
 * has just ended goes on with the next message in the same commit and is never seen at rest in between,
 * unless somebody waits for its slot.
 */
export function settle(draft: Draft, context: Context): void {
  const { agent } = draft;
  if (agent.turn !== undefined || !isAlive(agent.phase)) return;
  const rest = restOf(agent, context.nowMs);
  const goesOn = rest.phase === Phase.PENDING && agent.phase === Phase.RUNNING && !context.slotWanted;
  if (goesOn) startOrHold(draft, context);
  else moveTo(draft, rest.phase, context.nowMs, rest.needsInput);
}

function startOrHold(draft: Draft, context: Context): void {
  const spent = spentInChain([draft.agent, ...context.ancestors], context.nowMs);
  if (spent === undefined) {
    startTurn(draft, context.nowMs);
    return;
  }
  if (spent.by !== draft.agent) change(draft, { overdrawnBy: spent.by.key.path.join("/") });
  const rest = restOf(draft.agent, context.nowMs);
  moveTo(draft, rest.phase, context.nowMs, rest.needsInput);
}
