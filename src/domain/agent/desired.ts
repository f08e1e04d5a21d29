import { Phase, TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import { StopTurnMode } from "../../../gen/retinue/v1/agent_service_pb.js";
import type { Agent } from "./agent.js";
import type { Limits } from "./limits.js";
import { isTerminal } from "./phase.js";
import { mayStart } from "./settle.js";
import { timeOutAtMs } from "./time-passed.js";
import type { Fence, HeldTurn } from "./turn.js";

/**
 * What should be going on outside, as the state says; the same after a commit, a crash or a minute.
 *
 * - `request-slot`: have work, want a turn: `slotGranted` when there is one.
 * - `run-turn`: make a process of this attempt and give it this prompt, marked by `promptSent` first.
 * - `hold-turn`: a process of this attempt works; where there is none, that is `turnLost`.
 * - `cancel-turn`, `kill-turn`: stop it; its end is `turnEnded` or `turnLost`.
 * - `end-processes`: none of this agent may be left; told by `processesEnded` where it was killed.
 */
export type DesiredEffect =
  | { readonly type: "nothing" | "request-slot" | "end-processes" }
  | (Fence & { readonly type: "hold-turn" | "cancel-turn" | "kill-turn" })
  | (Fence & { readonly type: "run-turn"; readonly prompt: Prompt });

/** `continue`: the message was sent by an earlier attempt, whose session is resumed. */
export type Prompt = "message" | "continue" | "reminder" | "repair";

export interface Desired {
  readonly effect: DesiredEffect;
  /** When to ask again and to tell `timePassed`; not in the future means at once. */
  readonly wakeAtMs: number | undefined;
}

export function desired(agent: Agent, nowMs: number, limits: Limits): Desired {
  const times = [...dueTimes(agent, nowMs, limits)].filter((time) => time !== undefined);
  return {
    effect: desiredEffect(agent, nowMs, limits),
    wakeAtMs: times.length === 0 ? undefined : Math.min(...times),
  };
}

function desiredEffect(agent: Agent, nowMs: number, limits: Limits): DesiredEffect {
  if (agent.turn !== undefined) return turnEffect(agent.turn, nowMs);
  if (isTerminal(agent.phase)) {
    // CANCELED with survivors: they are hunted until they are gone.
    return { type: agent.kill?.processesGone === true ? "nothing" : "end-processes" };
  }
  switch (agent.phase) {
    case Phase.PENDING:
      return { type: mayStart(agent, nowMs) ? "request-slot" : "nothing" };
    case Phase.STOPPING:
      return { type: agent.kill?.processesGone === true ? "nothing" : "end-processes" };
    default:
      return { type: nowMs >= agent.phaseSinceMs + limits.idleProcessMs ? "end-processes" : "nothing" };
  }
}

function turnEffect(turn: HeldTurn, nowMs: number): DesiredEffect {
  const { runId, attempt, interruption } = turn;
  const fence = { runId, attempt };
  if (interruption !== undefined) {
    const kill = interruption.mode === StopTurnMode.KILL || (interruption.killAtMs ?? Infinity) <= nowMs;
    return { ...fence, type: kill ? "kill-turn" : "cancel-turn" };
  }
  if (turn.state === TurnState.RECOVERING && (turn.retryAtMs ?? 0) > nowMs) return { type: "nothing" };
  if (turn.nudge !== undefined) return { ...fence, type: "run-turn", prompt: turn.nudge.type };
  if (turn.state === TurnState.RUNNING) return { ...fence, type: "hold-turn" };
  return { ...fence, type: "run-turn", prompt: turn.promptSent ? "continue" : "message" };
}

function* dueTimes(agent: Agent, nowMs: number, limits: Limits): Generator<number | undefined> {
  if (isTerminal(agent.phase)) return;
  const later = (time: number | undefined) => (time !== undefined && time > nowMs ? time : undefined);
  yield agent.deferred[0]?.deliverAtMs;
  const { turn, kill, budget } = agent;
  if (turn !== undefined) {
    const { interruption, retryAtMs } = turn;
    const killed = interruption?.mode === StopTurnMode.KILL || interruption?.killAtMs !== undefined;
    if (!killed) yield timeOutAtMs(turn, limits);
    yield later(interruption?.killAtMs);
    yield later(retryAtMs);
  }
  if (agent.phase === Phase.PENDING && !mayStart(agent, nowMs)) yield agent.startAtMs;
  if (kill !== undefined && agent.children.length === 0) yield kill.atMs + limits.stoppingMs;
  const spends = turn !== undefined || agent.children.length > 0;
  if (spends && budget?.maxWallTimeMs !== undefined) yield later(agent.createdAtMs + budget.maxWallTimeMs);
  const rests = agent.phase === Phase.SLEEPING || agent.phase === Phase.WAITING_FOR_INPUT;
  if (rests) yield later(agent.phaseSinceMs + limits.idleProcessMs);
}
