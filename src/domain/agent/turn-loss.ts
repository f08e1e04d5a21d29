import { TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import { EventType } from "../../../gen/retinue/v1/event_pb.js";
import type { Agent, AgentError } from "./agent.js";
import type { Usage } from "./budget.js";
import {
  type Context,
  change,
  type Decision,
  type Draft,
  decided,
  openDraft,
  type Reported,
  record,
  unchanged,
} from "./decision.js";
import type { Limits } from "./limits.js";
import { promoteDue } from "./queue.js";
import { settle } from "./settle.js";
import { type Fence, fencedTurn, type HeldTurn } from "./turn.js";
import { failAgent } from "./turn-end.js";
import { endInterrupted } from "./turn-ended.js";
import { addTurnUsage } from "./usage-report.js";

/**
 * - `failure`: the agent process or its backend failed; counted.
 * - `fatal`: set-up or backend failed in a way that no new attempt mends.
 * - `outage`: the server was restarted or drained, or its lease was lost; nobody's fault.
 */
export type LossType = "failure" | "fatal" | "outage";

export interface TurnLost extends Fence {
  readonly loss: LossType;
  readonly error: AgentError;
  /** What was used and not reported yet: a turn that fails has its price, too. */
  readonly usage?: Usage | undefined;
}

/** The process beneath a turn is gone. Recovery is this and nothing else: the next attempt follows from it. */
export function turnLost(agent: Agent, input: TurnLost, context: Context): Decision<Reported> {
  const turn = fencedTurn(agent, input);
  if (turn === undefined) return unchanged(agent, { stale: true });
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  if (input.usage !== undefined) addTurnUsage(draft, input.usage);
  // It was asked to stop, and it has stopped: nothing was lost.
  if (turn.state === TurnState.INTERRUPTING) endInterrupted(draft, context.nowMs);
  else recover(draft, draft.agent.turn ?? turn, input, context);
  settle(draft, context);
  return decided(draft, { stale: false });
}

function recover(draft: Draft, turn: HeldTurn, { loss, error }: TurnLost, context: Context): void {
  const { nowMs, limits } = context;
  record(draft, EventType.RUNNER_LOST, { case: "error", value: error });
  const failures = draft.agent.failures + (loss === "failure" ? 1 : 0);
  const recoveries = draft.agent.recoveries + (loss === "outage" ? 1 : 0);
  if (loss === "fatal" || failures >= limits.failures) {
    failAgent(draft, { ...error, retryable: false }, nowMs);
    return;
  }
  if (recoveries > limits.recoveries) {
    const message = `recovered ${limits.recoveries} times without a sign of life: ${error.message}`;
    failAgent(draft, { kind: "no_progress", message, retryable: false }, nowMs);
    return;
  }
  // A restart is no way around a back-off that is running.
  const retryAtMs =
    loss === "failure" ? nowMs + backOffMs(failures, limits) : Math.max(nowMs, turn.retryAtMs ?? 0);
  const next = { state: TurnState.RECOVERING, attempt: turn.attempt + 1, retryAtMs };
  change(draft, { turn: { ...turn, ...next }, failures, recoveries, lastError: error });
}

/** 1 s, 2 s, 4 s … 60 s. */
export function backOffMs(failures: number, limits: Limits): number {
  return Math.min(limits.backOffMaxMs, limits.backOffFirstMs * 2 ** Math.max(0, failures - 1));
}
