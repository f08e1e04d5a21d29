import { TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import { StopTurnMode } from "../../../gen/retinue/v1/agent_service_pb.js";
import type { Agent } from "./agent.js";
import { type BudgetEffect, overBudget } from "./budget.js";
import { type Context, type Decision, type Draft, decided, openDraft } from "./decision.js";
import { cutTurn } from "./interrupt.js";
import { tryCancel } from "./kill.js";
import type { Limits } from "./limits.js";
import { isAlive, isTerminal } from "./phase.js";
import { promoteDue } from "./queue.js";
import { settle } from "./settle.js";
import type { HeldTurn } from "./turn.js";

/**
 * Whatever time alone decides: deferred messages, time-outs of a turn, the wall time of a budget, the end of
 * STOPPING. Harmless at any moment.
 */
export function timePassed(agent: Agent, context: Context): Decision<BudgetEffect> {
  const draft = openDraft(agent);
  if (isTerminal(agent.phase)) return decided(draft, { overBudget: false, freed: false });
  promoteDue(draft, context.nowMs);
  const over = isAlive(agent.phase) && overBudget(draft.agent, context.nowMs) !== undefined;
  if (over) cutTurn(draft, "BUDGET", context);
  timeOut(draft, context);
  tryCancel(draft, context);
  settle(draft, context);
  return decided(draft, { overBudget: over, freed: false });
}

function timeOut(draft: Draft, context: Context): void {
  const { turn } = draft.agent;
  if (turn === undefined || turn.interruption?.killAtMs !== undefined) return;
  // A cancel that a caller asked for is killed here at the latest; once killed, nothing more can be done.
  const killing = turn.state === TurnState.INTERRUPTING && isKill(turn);
  if (!killing && timeOutAtMs(turn, context.limits) <= context.nowMs) cutTurn(draft, "TIME_OUT", context);
}

function isKill(turn: HeldTurn): boolean {
  return turn.interruption?.mode === StopTurnMode.KILL;
}

/** When the turn's or the silence time-out strikes. Setting up is silent by nature, and so is a back-off. */
export function timeOutAtMs(turn: HeldTurn, limits: Limits): number {
  const whole = turn.startedAtMs + limits.turnMs;
  const speaks = turn.state === TurnState.RUNNING || turn.state === TurnState.INTERRUPTING;
  return speaks ? Math.min(whole, turn.progressAtMs + limits.silenceMs) : whole;
}
