import { reservedOf, subtreeSpentOf } from "./budget.js";
import type { Draft } from "./decision.js";

/** Lets the agents above know: for their budgets, and for what their subtrees have cost. */
export function tellSpent(draft: Draft): void {
  const { agent } = draft;
  if (agent.parentUid === "") return;
  const child = { uid: agent.uid, path: agent.key.path };
  const [spent, reserved] = [subtreeSpentOf(agent), reservedOf(agent)];
  draft.toParent.push({ type: "spent", child, budget: agent.budget, spent, reserved });
}
