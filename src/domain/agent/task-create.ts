import type { Agent } from "./agent.js";
import { type Context, type Decision, decided, openDraft } from "./decision.js";
import { requireAlive } from "./phase.js";
import { promoteDue } from "./queue.js";
import { settle } from "./settle.js";
import type { Task, TaskInput } from "./task.js";
import { acceptTasks } from "./task-input.js";
import { addTasks } from "./task-list.js";

/** Adds tasks at once, all or none. */
export function createTasks(
  agent: Agent,
  inputs: readonly TaskInput[],
  context: Context,
): Decision<{ readonly tasks: readonly Task[] }> {
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  requireAlive(draft.agent);
  const accepted = acceptTasks(draft, inputs, context.limits);
  addTasks(draft, accepted);
  const ids = new Set(accepted.map(({ id }) => id));
  settle(draft, context);
  return decided(draft, { tasks: draft.agent.tasks.filter((task) => ids.has(task.id)) });
}
