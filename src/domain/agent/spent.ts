import { drawsOnParent, reservedOf, subtreeSpentOf } from "./budget.js";
import type { Draft } from "./decision.js";

/** Lets the budget above know, where this agent draws on it. */
export function tellSpent(draft: Draft): void {
  const { agent } = draft;
  if (!drawsOnParent(agent)) return;
  const child = { uid: agent.uid, path: agent.key.path };
  const [spent, reserved] = [subtreeSpentOf(agent), reservedOf(agent)];
  draft.toParent.push({ type: "spent", child, budget: agent.budget, spent, reserved });
}
