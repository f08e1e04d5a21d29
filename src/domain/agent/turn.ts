import type { JsonValue } from "@bufbuild/protobuf";
import type { TurnOutcome, TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import type { StopTurnMode } from "../../../gen/retinue/v1/agent_service_pb.js";
import type { Agent, AgentError } from "./agent.js";
import type { Usage } from "./budget.js";

/** The turn that a RUNNING agent holds. */
export interface HeldTurn {
  readonly runId: number;
  /** A fence, not a count of failures. */
  readonly attempt: number;
  readonly state: TurnState;
  readonly startedAtMs: number;
  /** Delivered to this run; empty for run 1, which carries the description. */
  readonly followUpIds: readonly string[];
  /** Committed before the prompt is written: recovery without it sends the message, with it says "continue". */
  readonly promptSent: boolean;
  /** A further prompt of this run that is owed: a reminder of open tasks or a repair of the output. */
  readonly nudge: Nudge | undefined;
  readonly progressAtMs: number;
  /** Set exactly while INTERRUPTING. */
  readonly interruption: Interruption | undefined;
  /** Set exactly while RECOVERING: the next attempt does not start earlier. */
  readonly retryAtMs: number | undefined;
  /** The agent gave its last word in this run. */
  readonly spoke: boolean;
  /** Structured output of this run, valid under the schema in force: what is not never gets here. */
  readonly output: JsonValue | undefined;
  /** What was wrong with the last output that was refused. */
  readonly outputRefusal: string | undefined;
  /** Fingerprint of what the caller allowed in answer to the last run's question. */
  readonly granted?: string | undefined;
  readonly reminders: number;
  readonly repairs: number;
  readonly usage: Usage;
  /** Children whose end the wait tool has told in this run: no message about them is needed. */
  readonly handedOver: readonly string[];
}

export interface Nudge {
  readonly type: "reminder" | "repair";
  readonly text: string;
}

/** Who cut a turn short. */
export type InterruptionCause = "stop" | "preempt" | "time-out" | "budget";

export interface Interruption {
  readonly cause: InterruptionCause;
  readonly mode: StopTurnMode.INTERRUPT | StopTurnMode.KILL;
  /** What the turn will have ended as: the first commit wins, whatever the agent answers later. */
  readonly outcome: TurnOutcome;
  /** When the cancel becomes a kill by itself; never for a caller's stop. */
  readonly killAtMs: number | undefined;
}

export interface EndedTurn {
  readonly runId: number;
  readonly outcome: TurnOutcome;
  readonly summary: string;
  readonly error: AgentError | undefined;
  readonly usage: Usage;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Ended by itself, but without what was asked of it. */
  readonly shortfall: Shortfall | undefined;
}

export interface Shortfall {
  readonly cause: "schema" | "open-tasks";
  readonly text: string;
}

/** What every report of a runner carries. */
export interface Fence {
  readonly runId: number;
  readonly attempt: number;
}

/** The turn that a report speaks of; undefined when the report is late and must change nothing. */
export function fencedTurn(agent: Agent, fence: Fence): HeldTurn | undefined {
  const { turn } = agent;
  return turn?.runId === fence.runId && turn.attempt === fence.attempt ? turn : undefined;
}
