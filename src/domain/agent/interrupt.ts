import { TurnOutcome, TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import { StopTurnMode } from "../../../gen/retinue/v1/agent_service_pb.js";
import { type Context, change, type Draft } from "./decision.js";
import type { InterruptionCause } from "./turn.js";
import { endTurn } from "./turn-end.js";

/** What cuts a turn short. */
export type Cut = "INTERRUPT" | "KILL" | "PREEMPT" | "TIME_OUT" | "BUDGET";

/**
 * - `end`: the turn ends in this commit; no prompt is under way.
 * - `cancel`: INTERRUPTING, the agent program is asked to stop.
 * - `kill`: INTERRUPTING, its processes are ended.
 * - `leave`: nothing more happens.
 */
type Effect = "end" | "cancel" | "kill" | "leave";

const { STARTING, RUNNING, INTERRUPTING, RECOVERING } = TurnState;

/** Only a KILL or a time-out ever turns a cancel into a kill: there is no escalation by itself. */
export const CUTS: Readonly<
  Record<Exclude<TurnState, TurnState.UNSPECIFIED>, Readonly<Record<Cut, Effect>>>
> = {
  [STARTING]: { INTERRUPT: "end", KILL: "end", PREEMPT: "leave", TIME_OUT: "end", BUDGET: "end" },
  [RUNNING]: { INTERRUPT: "cancel", KILL: "kill", PREEMPT: "cancel", TIME_OUT: "cancel", BUDGET: "cancel" },
  [INTERRUPTING]: { INTERRUPT: "leave", KILL: "kill", PREEMPT: "leave", TIME_OUT: "kill", BUDGET: "leave" },
  [RECOVERING]: { INTERRUPT: "end", KILL: "end", PREEMPT: "end", TIME_OUT: "end", BUDGET: "end" },
};

const OUTCOME: Readonly<Record<Cut, TurnOutcome>> = {
  INTERRUPT: TurnOutcome.INTERRUPTED,
  KILL: TurnOutcome.KILLED,
  PREEMPT: TurnOutcome.INTERRUPTED,
  TIME_OUT: TurnOutcome.TIMED_OUT,
  BUDGET: TurnOutcome.OVER_BUDGET,
};

const CAUSE: Readonly<Record<Cut, InterruptionCause>> = {
  INTERRUPT: "stop",
  KILL: "stop",
  PREEMPT: "preempt",
  TIME_OUT: "time-out",
  BUDGET: "budget",
};

/** Cuts the turn that is held, as the table says. Returns whether it did anything. */
export function cutTurn(draft: Draft, cut: Cut, context: Context): boolean {
  const { turn } = draft.agent;
  if (turn === undefined || turn.state === TurnState.UNSPECIFIED) return false;
  const effect = CUTS[turn.state][cut];
  if (effect === "leave") return false;
  if (effect === "end") {
    endTurn(draft, { outcome: OUTCOME[cut] }, context.nowMs);
    return true;
  }
  const before = turn.interruption;
  // What a time-out or the budget began stays theirs; a caller's own interrupt becomes a kill.
  const keeps =
    before !== undefined && (cut !== "KILL" || before.cause === "time-out" || before.cause === "budget");
  const graceful = effect === "cancel" && (cut === "TIME_OUT" || cut === "BUDGET");
  const interruption = {
    cause: before?.cause ?? CAUSE[cut],
    mode: effect === "kill" ? StopTurnMode.KILL : StopTurnMode.INTERRUPT,
    outcome: keeps ? before.outcome : OUTCOME[cut],
    killAtMs: graceful ? context.nowMs + context.limits.killGraceMs : undefined,
  } as const;
  change(draft, { turn: { ...turn, state: INTERRUPTING, nudge: undefined, interruption } });
  return true;
}
