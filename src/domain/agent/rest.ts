import { IdlePolicy, Phase, TurnOutcome } from "../../../gen/retinue/v1/agent_pb.js";
import { type Agent, type Child, type NeedsInput, type NeedsInputCause, owesMessageZero } from "./agent.js";
import { budgetSpent } from "./budget.js";

/** Where an agent without a turn belongs. */
export interface Rest {
  readonly phase: Phase.PENDING | Phase.WAITING_FOR_INPUT | Phase.SLEEPING | Phase.COMPLETED;
  readonly needsInput?: NeedsInput;
}

/**
 * THE rule of rest, evaluated at the end of a turn and after every commit that touches the queue, the
 * deferrals, the children or the budget of an agent that holds no turn. The order is the rule: the first
 * line that applies decides.
 */
export function restOf(agent: Agent, nowMs: number): Rest {
  if (owesMessageZero(agent) || agent.queued.length > 0) {
    const spent = budgetHold(agent, nowMs);
    return spent === undefined ? { phase: Phase.PENDING } : waiting("budget", spent);
  }
  if (agent.lastWord?.type === "ask") return waiting("question", agent.lastWord.question);
  const cut = cutShort(agent);
  if (cut !== undefined) return waiting(cut.cause, cut.text);
  if (agent.deferred.length > 0 || agent.children.some(movesByItself)) return { phase: Phase.SLEEPING };
  // Every live child waits: were this agent to sleep on them, nobody would ever be told.
  const child = agent.children[0];
  if (child !== undefined) return waiting("child", `child ${child.name} waits: ${child.waitsFor}`);
  const done = agent.lastWord?.type === "complete" || agent.idlePolicy === IdlePolicy.COMPLETE;
  if (done) return { phase: Phase.COMPLETED };
  return waiting("plain-end", "the turn ended; a message starts the next one");
}

/** Why queued messages stay queued: the agent's own budget, or the one above that it draws on, is spent. */
export function budgetHold(agent: Agent, nowMs: number): string | undefined {
  if (agent.overdrawnBy !== "") return `budget spent: that of ${agent.overdrawnBy}`;
  return budgetSpent(agent, nowMs);
}

function waiting(cause: NeedsInputCause, text: string): Rest {
  return { phase: Phase.WAITING_FOR_INPUT, needsInput: { cause, text } };
}

function movesByItself(child: Child): boolean {
  return child.waitsFor === undefined;
}

const CUT: Partial<Record<TurnOutcome, NeedsInput>> = {
  [TurnOutcome.INTERRUPTED]: { cause: "interrupted", text: "the turn was interrupted" },
  [TurnOutcome.KILLED]: { cause: "killed", text: "the turn was killed" },
  [TurnOutcome.TIMED_OUT]: { cause: "timed-out", text: "the turn timed out" },
  [TurnOutcome.OVER_BUDGET]: { cause: "budget", text: "budget spent: the turn was stopped" },
};

function cutShort(agent: Agent): NeedsInput | undefined {
  const { lastTurn } = agent;
  return lastTurn && (CUT[lastTurn.outcome] ?? lastTurn.shortfall);
}
