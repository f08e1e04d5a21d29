import { EventType } from "../../../gen/retinue/v1/event_pb.js";
import { TaskStatus } from "../../../gen/retinue/v1/task_pb.js";
import { change, type Draft, record } from "./decision.js";
import type { PersonaPin } from "./settings.js";
import { isLiveTask, type Task, takenTaskIds, taskMessage } from "./task.js";
import { openBlocker, symmetric, without } from "./task-graph.js";

/** Replaces the checklist, and tells the timeline of each task that came, changed or went. */
export function writeTasks(draft: Draft, next: readonly Task[]): void {
  const before = new Map(draft.agent.tasks.map((task) => [task.id, task]));
  const after = new Map(next.map((task) => [task.id, task]));
  change(draft, { tasks: next });
  const known = new Set([...before.keys(), ...after.keys()]);
  const tell = (type: EventType, task: Task) =>
    record(draft, type, { case: "task", value: taskMessage(task, known) });
  for (const [id, task] of before) {
    if (!after.has(id) && isLiveTask(task)) {
      tell(EventType.TASK_DELETED, { ...task, status: TaskStatus.DELETED });
    }
  }
  for (const [id, task] of after) {
    const old = before.get(id);
    if (old === task) continue;
    if (old === undefined) tell(EventType.TASK_CREATED, task);
    else if (isLiveTask(old) && !isLiveTask(task)) tell(EventType.TASK_DELETED, task);
    else if (!old.active && task.active) tell(EventType.TASK_ACTIVATED, task);
    else tell(EventType.TASK_UPDATED, task);
  }
}

/**
 * Adds tasks that were accepted earlier. What they were sent as may have become untrue since; then they are
 * PENDING, because a delivery cannot be refused.
 */
export function addTasks(draft: Draft, added: readonly Task[]): void {
  if (added.length === 0) return;
  const all = symmetric([...draft.agent.tasks, ...added]);
  const ready = (task: Task) => task.active && openBlocker(task, all) === undefined;
  const fresh = new Set(added.map((task) => task.id));
  writeTasks(
    draft,
    all.map((task) => {
      const begun = task.status === TaskStatus.IN_PROGRESS || task.status === TaskStatus.COMPLETED;
      return fresh.has(task.id) && begun && !ready(task) ? { ...task, status: TaskStatus.PENDING } : task;
    }),
  );
}

/** Takes tasks off the list for good: their IDs are free again. */
export function removeTasks(draft: Draft, gone: (task: Task) => boolean): void {
  const ids = new Set(draft.agent.tasks.filter(gone).map((task) => task.id));
  if (ids.size > 0) writeTasks(draft, without(draft.agent.tasks, ids));
}

/** A persona's tasks, under their own IDs where these are free, otherwise with the persona in front. */
export function addPersonaTasks(draft: Draft, persona: PersonaPin): void {
  const taken = takenTaskIds(draft.agent);
  const ids = new Map<string, string>();
  for (const { id } of persona.tasks) {
    let free = id;
    for (let n = 1; taken.has(free); n++) free = `${persona.name}/${id}${n === 1 ? "" : `-${n}`}`;
    taken.add(free);
    ids.set(id, free);
  }
  addTasks(
    draft,
    persona.tasks.map((task) => ({
      ...task,
      id: ids.get(task.id) ?? task.id,
      status: TaskStatus.PENDING,
      blocks: [],
      blockedBy: task.blockedBy.map((id) => ids.get(id) ?? id),
      persona: persona.name,
      dedupKey: "",
      ephemeral: false,
      active: task.filesModified === undefined,
    })),
  );
}

/** Activations are of one run: off when the next begins. */
export function deactivateTasks(draft: Draft): void {
  const { tasks } = draft.agent;
  const on = (task: Task) => task.filesModified !== undefined && task.active && isLiveTask(task);
  if (!tasks.some(on)) return;
  writeTasks(
    draft,
    tasks.map((task) => (on(task) ? { ...task, active: false } : task)),
  );
}
