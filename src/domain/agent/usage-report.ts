import { EventType } from "../../../gen/retinue/v1/event_pb.js";
import type { Agent } from "./agent.js";
import { addUsage, dollars, overBudget, totalTokens, type Usage } from "./budget.js";
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
import { cutTurn } from "./interrupt.js";
import { promoteDue } from "./queue.js";
import { settle } from "./settle.js";
import { tellSpent } from "./spent.js";
import { type Fence, fencedTurn } from "./turn.js";
import { usageMessage } from "./usage.js";

/** What a turn has used since its last report; the turn is interrupted at the first report over the budget. */
export function usageReported(
  agent: Agent,
  input: Fence & { readonly usage: Usage },
  context: Context,
): Decision<Reported> {
  if (fencedTurn(agent, input) === undefined) return unchanged(agent, { stale: true });
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  addTurnUsage(draft, input.usage);
  change(draft, { recoveries: 0, progressAtMs: context.nowMs });
  const { turn } = draft.agent;
  if (turn !== undefined) change(draft, { turn: { ...turn, progressAtMs: context.nowMs } });
  if (overBudget(draft.agent, context.nowMs) !== undefined) cutTurn(draft, "BUDGET", context);
  settle(draft, context);
  return decided(draft, { stale: false });
}

export function addTurnUsage(draft: Draft, reported: Usage): void {
  const { turn, usage } = draft.agent;
  if (turn === undefined) return;
  const delta = nonNegative(reported);
  if (totalTokens(delta) === 0 && delta.cost === 0) return;
  change(draft, { turn: { ...turn, usage: addUsage(turn.usage, delta) }, usage: addUsage(usage, delta) });
  record(draft, EventType.USAGE, { case: "usage", value: usageMessage(delta) });
  tellSpent(draft);
}

/** Agent programs have been seen to report sums that went down; money does not come back. */
function nonNegative(usage: Usage): Usage {
  const count = (value: number) => (Number.isFinite(value) ? Math.max(0, Math.round(value)) : 0);
  return {
    inputTokens: count(usage.inputTokens),
    cachedInputTokens: count(usage.cachedInputTokens),
    outputTokens: count(usage.outputTokens),
    cost: Number.isFinite(usage.cost) ? Math.max(0, dollars(usage.cost)) : 0,
  };
}
