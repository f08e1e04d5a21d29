import type { Agent, Child } from "./agent.js";

/** Tokens and dollars; `inputTokens` excludes what was read from a cache. */
export interface Usage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
}

/** Unset fields do not limit. */
export interface BudgetLimits {
  readonly maxCostUsd: number | undefined;
  readonly maxTokens: number | undefined;
  readonly maxTurns: number | undefined;
  readonly maxWallTimeMs: number | undefined;
}

/** What adds up over a tree. Wall time does not: it passes for all at once. */
export interface Spent {
  readonly costUsd: number;
  readonly tokens: number;
  readonly turns: number;
}

export type Dimension = keyof Spent | "wallTime";

export const NO_USAGE: Usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, cost: 0 };
export const NOTHING_SPENT: Spent = { costUsd: 0, tokens: 0, turns: 0 };

const SUMMED = ["costUsd", "tokens", "turns"] as const;
const LIMIT = { costUsd: "maxCostUsd", tokens: "maxTokens", turns: "maxTurns" } as const;
const NAMES: Record<Dimension, string> = {
  costUsd: "US dollars",
  tokens: "tokens",
  turns: "turns",
  wallTime: "milliseconds since spawn",
};

/** To the billionth: sums of binary fractions would show amounts that nobody has spent. */
export function dollars(amount: number): number {
  return Math.round(amount * 1e9) / 1e9;
}

export function totalTokens(usage: Usage): number {
  return usage.inputTokens + usage.cachedInputTokens + usage.outputTokens;
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cost: dollars(a.cost + b.cost),
  };
}

export function addSpent(...parts: readonly Spent[]): Spent {
  const sum = { ...NOTHING_SPENT };
  for (const part of parts) for (const d of SUMMED) sum[d] += part[d];
  return { ...sum, costUsd: dollars(sum.costUsd) };
}

function pick(spent: Spent, wanted: (dimension: keyof Spent) => boolean): Spent {
  const picked = { ...NOTHING_SPENT };
  for (const d of SUMMED) if (wanted(d)) picked[d] = spent[d];
  return picked;
}

function limits(child: Child, dimension: keyof Spent): boolean {
  return child.budget?.[LIMIT[dimension]] !== undefined;
}

/** What the agent, its ended descendants and those that draw on its budget have used. */
export function spentOf(agent: Agent): Spent {
  const own = { costUsd: agent.usage.cost, tokens: totalTokens(agent.usage), turns: agent.runCount };
  const drawn = agent.children.map((child) => pick(child.spent, (d) => !limits(child, d)));
  return addSpent(own, agent.endedChildrenSpent, ...drawn);
}

/** What is set aside for live children, and by those of them that have no budget for theirs. */
export function reservedOf(agent: Agent): Spent {
  const reserved = { ...NOTHING_SPENT };
  for (const child of agent.children) {
    for (const d of SUMMED) {
      const limit = child.budget?.[LIMIT[d]];
      reserved[d] += limit === undefined ? child.reserved[d] : Math.max(limit, child.spent[d]);
    }
  }
  return reserved;
}

/** Everything used by the agent and all its descendants, as far as it was told. */
export function subtreeSpentOf(agent: Agent): Spent {
  const own = { costUsd: agent.usage.cost, tokens: totalTokens(agent.usage), turns: agent.runCount };
  return addSpent(own, agent.endedChildrenSpent, ...agent.children.map((child) => child.spent));
}

interface Level {
  readonly dimension: Dimension;
  readonly used: number;
  readonly limit: number;
}

function levels(agent: Agent, nowMs: number): Level[] {
  const { budget } = agent;
  if (budget === undefined) return [];
  const [spent, reserved] = [spentOf(agent), reservedOf(agent)];
  const found: Level[] = [];
  for (const dimension of SUMMED) {
    const limit = budget[LIMIT[dimension]];
    if (limit !== undefined) found.push({ dimension, used: spent[dimension] + reserved[dimension], limit });
  }
  if (budget.maxWallTimeMs !== undefined) {
    found.push({ dimension: "wallTime", used: nowMs - agent.createdAtMs, limit: budget.maxWallTimeMs });
  }
  return found;
}

function say(level: Level): string {
  return `${level.used} of ${level.limit} ${NAMES[level.dimension]}`;
}

/** Why no turn and no spawn may start on this agent's own budget; undefined when it may. */
export function budgetSpent(agent: Agent, nowMs: number): string | undefined {
  const level = levels(agent, nowMs).find(({ used, limit }) => used >= limit);
  return level && `budget spent: ${say(level)}`;
}

/**
 * Why a turn that runs must be interrupted. Only what is *over* counts: the last turn of `maxTurns` may finish,
 * and a report that meets the limit exactly stops the next turn, not this one.
 */
export function overBudget(agent: Agent, nowMs: number): string | undefined {
  const over = levels(agent, nowMs).find(({ dimension, used, limit }) =>
    dimension === "wallTime" ? used >= limit : used > limit,
  );
  return over && `budget spent: ${say(over)}`;
}

/**
 * Finds the spent budget that keeps an agent from starting: in each dimension the nearest one counts,
 * its own or that of an ancestor it draws on.
 *
 * @param chain the agent, then its ancestors from the nearest
 */
export function spentInChain(chain: readonly Agent[], nowMs: number): { by: Agent; why: string } | undefined {
  const settled = new Set<Dimension>();
  for (const by of chain) {
    for (const level of levels(by, nowMs)) {
      if (settled.has(level.dimension)) continue;
      settled.add(level.dimension);
      if (level.used >= level.limit) return { by, why: `budget spent: ${say(level)}` };
    }
  }
  return undefined;
}

/** How much of a child's budget the nearest limits above it cannot give; undefined when they can. */
export function shortOf(chain: readonly Agent[], budget: BudgetLimits, nowMs: number): string | undefined {
  for (const d of SUMMED) {
    const wanted = budget[LIMIT[d]];
    if (wanted === undefined) continue;
    const level = chain.flatMap((agent) => levels(agent, nowMs)).find(({ dimension }) => dimension === d);
    if (level !== undefined && level.used + wanted > level.limit) {
      return `${wanted} ${NAMES[d]} wanted, ${Math.max(0, level.limit - level.used)} left`;
    }
  }
  return undefined;
}

/** What a decision did to a budget that others below the agent may draw on. */
export interface BudgetEffect {
  /** Over it: `overdrawn` for every live agent below. */
  readonly overBudget: boolean;
  /** Something came back, or the limits are new: `budgetFreed` for every live agent below that is held. */
  readonly freed: boolean;
}

/** Whether less of the budget is spent or set aside than before. */
export function hasFreed(before: Agent, after: Agent): boolean {
  const committed = (agent: Agent) => addSpent(spentOf(agent), reservedOf(agent));
  const [a, b] = [committed(before), committed(after)];
  return SUMMED.some((d) => b[d] < a[d]);
}
