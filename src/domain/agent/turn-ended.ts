import { Phase, TurnOutcome, TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import { StopTurnMode } from "../../../gen/retinue/v1/agent_service_pb.js";
import type { Agent, AgentError } from "./agent.js";
import { overBudget, type Usage } from "./budget.js";
import {
  type Context,
  change,
  type Decision,
  type Draft,
  decided,
  openDraft,
  type Reported,
  unchanged,
} from "./decision.js";
import { missingOutput } from "./output.js";
import { promoteDue } from "./queue.js";
import { restOf } from "./rest.js";
import { settle } from "./settle.js";
import { isOpenTask } from "./task.js";
import { type Fence, fencedTurn, type HeldTurn, type Nudge, type Shortfall } from "./turn.js";
import { endTurn } from "./turn-end.js";
import { addTurnUsage } from "./usage-report.js";

export interface TurnEnded extends Fence {
  /** The last message of the agent in this run. */
  readonly summary: string;
  /** What was not reported yet. */
  readonly usage?: Usage | undefined;
  /** What went wrong although the turn ended by itself, for example a model's length limit. */
  readonly error?: AgentError | undefined;
}

/** `ended`, or the further prompt that the same run is given instead. */
export interface TurnEndedReply extends Reported {
  readonly next: "ended" | Nudge["type"];
}

/** The agent program ended the turn. After a stop this is late: the turn ends as what the stop made it. */
export function turnEnded(agent: Agent, input: TurnEnded, context: Context): Decision<TurnEndedReply> {
  const held = fencedTurn(agent, input);
  if (held === undefined || owesPrompt(held)) return unchanged(agent, { stale: true, next: "ended" });
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  if (input.usage !== undefined) addTurnUsage(draft, input.usage);
  const turn = draft.agent.turn as HeldTurn;
  if (turn.interruption !== undefined) {
    endInterrupted(draft, context.nowMs, input.summary);
    settle(draft, context);
    return decided(draft, { stale: false, next: "ended" });
  }
  const nudge = nextNudge(draft.agent, turn, context);
  if (nudge !== undefined && overBudget(draft.agent, context.nowMs) !== undefined) {
    // It would go on, and may not.
    endTurn(draft, { outcome: TurnOutcome.OVER_BUDGET, summary: input.summary }, context.nowMs);
    settle(draft, context);
    return decided(draft, { stale: false, next: "ended" });
  }
  if (nudge !== undefined) {
    const counted =
      nudge.type === "reminder" ? { reminders: turn.reminders + 1 } : { repairs: turn.repairs + 1 };
    change(draft, { turn: { ...turn, ...counted, nudge, progressAtMs: context.nowMs } });
    return decided(draft, { stale: false, next: nudge.type });
  }
  endByItself(draft, turn, input, context.nowMs);
  settle(draft, context);
  return decided(draft, { stale: false, next: "ended" });
}

/** No prompt is under way, so that nothing can have ended it: what is told here was told before. */
function owesPrompt({ state, nudge }: HeldTurn): boolean {
  return state === TurnState.STARTING || state === TurnState.RECOVERING || nudge !== undefined;
}

/** Ends a turn that was cut short. A kill recovers no result; a graceful stop keeps what the agent still said. */
export function endInterrupted(draft: Draft, nowMs: number, summary = ""): void {
  const interruption = draft.agent.turn?.interruption;
  if (interruption === undefined) return;
  const kept = interruption.mode === StopTurnMode.KILL ? "" : summary;
  endTurn(draft, { outcome: interruption.outcome, summary: kept }, nowMs);
}

function nextNudge(agent: Agent, turn: HeldTurn, context: Context): Nudge | undefined {
  const open = openTasksHold(agent, turn, context.nowMs);
  if (open !== undefined && turn.reminders < context.limits.reminders && agent.queued.length === 0) {
    return { type: "reminder", text: open };
  }
  const violation = schemaViolation(agent, turn, context.nowMs);
  if (violation !== undefined && turn.repairs < context.limits.repairs)
    return { type: "repair", text: violation };
  return undefined;
}

function endByItself(draft: Draft, turn: HeldTurn, input: TurnEnded, nowMs: number): void {
  const violation = schemaViolation(draft.agent, turn, nowMs);
  const open = openTasksHold(draft.agent, turn, nowMs);
  const error: AgentError | undefined =
    violation === undefined ? input.error : { kind: "schema_mismatch", message: violation, retryable: false };
  const shortfall = violation === undefined ? openTasksLeft(draft.agent, open) : schemaShortfall(violation);
  if (violation === undefined && turn.output !== undefined) change(draft, { structuredOutput: turn.output });
  endTurn(draft, { outcome: TurnOutcome.COMPLETED, summary: input.summary, error, shortfall }, nowMs);
}

function schemaShortfall(violation: string): Shortfall {
  return { cause: "schema", text: `the result does not fit the output schema: ${violation}` };
}

/** With a message QUEUED the work goes on anyway: nothing is held against the turn then. */
function openTasksLeft(agent: Agent, open: string | undefined): Shortfall | undefined {
  if (open === undefined || agent.queued.length > 0) return undefined;
  return { cause: "open-tasks", text: `tasks were left open: ${open}` };
}

/** The open tasks of an agent that declared the work done, or would be taken as done; undefined: none in the way. */
function openTasksHold(agent: Agent, turn: HeldTurn, nowMs: number): string | undefined {
  const open = agent.tasks.filter(isOpenTask);
  if (open.length === 0) return undefined;
  const declared = turn.spoke && agent.lastWord?.type === "complete";
  const holds = declared || restOf(asIfEnded(agent), nowMs).phase === Phase.COMPLETED;
  return holds ? open.map((task) => task.id).join(", ") : undefined;
}

/**
 * A question needs no result, and neither does an agent that will sleep until a child or a deferred message wakes it;
 * whatever else ends a turn is held against the active schema.
 */
function schemaViolation(agent: Agent, turn: HeldTurn, nowMs: number): string | undefined {
  if (agent.lastWord?.type === "ask") return undefined;
  const sleeps = agent.lastWord === undefined && restOf(asIfEnded(agent), nowMs).phase === Phase.SLEEPING;
  return sleeps ? undefined : missingOutput(agent, turn);
}

function asIfEnded(agent: Agent): Agent {
  return { ...agent, turn: undefined, lastTurn: undefined };
}
