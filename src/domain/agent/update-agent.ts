import { resourceExhausted } from "../fault.js";
import type { Agent } from "./agent.js";
import {
  type BudgetEffect,
  type BudgetLimits,
  overBudget,
  reservedOf,
  shortOf,
  spentInChain,
  subtreeSpentOf,
} from "./budget.js";
import { checkBudget } from "./budget-check.js";
import { type Context, change, type Decision, decided, openDraft, unchanged } from "./decision.js";
import { cutTurn } from "./interrupt.js";
import { isAlive, requireAlive } from "./phase.js";
import { promoteDue } from "./queue.js";
import { settle } from "./settle.js";
import { checkLabels } from "./spawn.js";

export interface UpdateAgent {
  /** Replaces the limits as a whole; undefined: stays. */
  readonly budget: BudgetLimits | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/** Replaces budget or labels. A higher budget frees an agent that rests because its budget is spent. */
export function updateAgent(agent: Agent, update: UpdateAgent, context: Context): Decision<BudgetEffect> {
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  requireAlive(draft.agent);
  if (update.labels !== undefined) {
    checkLabels(update.labels, context.limits.labels);
    change(draft, { labels: update.labels });
  }
  if (update.budget !== undefined) {
    checkBudget(update.budget);
    requireRoomAbove(agent, update.budget, context);
    // Whether a budget above is still in the way is asked again when the next turn starts.
    change(draft, { budget: update.budget, overdrawnBy: "" });
    const child = { uid: agent.uid, path: agent.key.path };
    const [spent, reserved] = [subtreeSpentOf(draft.agent), reservedOf(draft.agent)];
    const notice = { type: "spent", child, budget: update.budget, spent, reserved } as const;
    if (agent.parentUid !== "") draft.toParent.push(notice);
  }
  settle(draft, context);
  const over = overBudget(draft.agent, context.nowMs) !== undefined;
  return decided(draft, { overBudget: over, freed: update.budget !== undefined });
}

function requireRoomAbove(agent: Agent, budget: BudgetLimits, context: Context): void {
  const [parent, ...above] = context.ancestors;
  if (parent === undefined) return;
  const others = parent.children.filter(({ uid }) => uid !== agent.uid);
  const short = shortOf([{ ...parent, children: others }, ...above], budget, context.nowMs);
  if (short !== undefined) throw resourceExhausted("BUDGET_SPENT", `budget: ${short}`);
}

/** The budget above was overdrawn: an agent that draws on it has its turn stopped, and no other starts. */
export function overdrawn(agent: Agent, context: Context): Decision {
  const spent = spentInChain([agent, ...context.ancestors], context.nowMs);
  if (!isAlive(agent.phase) || spent === undefined || spent.by === agent) return unchanged(agent, undefined);
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  change(draft, { overdrawnBy: spent.by.key.path.join("/") });
  cutTurn(draft, "BUDGET", context);
  settle(draft, context);
  return decided(draft, undefined);
}

/** The budget above has more to give again: whether it is enough is asked when the next turn starts. */
export function budgetFreed(agent: Agent, context: Context): Decision {
  if (!isAlive(agent.phase) || agent.overdrawnBy === "") return unchanged(agent, undefined);
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  change(draft, { overdrawnBy: "" });
  settle(draft, context);
  return decided(draft, undefined);
}
