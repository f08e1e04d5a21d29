import { Code } from "../../../gen/google/rpc/code_pb.js";
import { TaskStatus } from "../../../gen/retinue/v1/task_pb.js";
import { Fault, failedPrecondition, invalidField, resourceExhausted } from "../fault.js";
import { quoted } from "../name.js";
import type { Agent } from "./agent.js";
import { change, type Draft } from "./decision.js";
import { patternViolation } from "./glob.js";
import type { Limits } from "./limits.js";
import { filesModifiedOf, isLiveTask, type Task, type TaskInput, takenTaskIds } from "./task.js";
import { findCycle, openBlocker, symmetric } from "./task-graph.js";

const ID_LENGTH = 128;
const RESERVED = ["persona", "dedupKey", "ephemeral"] as const;

/**
 * Turns the tasks of a request into tasks with IDs, or refuses all of them. Used when they are created and,
 * with the same outcome, when a message that brings them later is accepted.
 */
export function acceptTasks(draft: Draft, inputs: readonly TaskInput[], limits: Limits): Task[] {
  if (inputs.length === 0) return [];
  inputs.forEach(checkTask);
  checkIds(draft.agent, inputs);
  requireTaskRoom(draft.agent, inputs.length, limits);
  const pending = pendingTasks(draft.agent);
  const nameless = inputs.filter(({ id }) => id === "").length;
  const minted = mintTaskIds(draft, nameless, new Set(inputs.map(({ id }) => id)));
  const tasks = inputs.map((input) =>
    newTask(input, input.id === "" ? (minted.shift() as string) : input.id),
  );
  checkEdges(tasks, [...draft.agent.tasks, ...pending], "tasks");
  const all = symmetric([...draft.agent.tasks, ...tasks]);
  tasks.forEach((task, i) => {
    const begun = task.status === TaskStatus.IN_PROGRESS || task.status === TaskStatus.COMPLETED;
    if (begun) requireReady(all.find(({ id }) => id === task.id) ?? task, all, `tasks[${i}].status`);
  });
  return tasks;
}

/** Tasks of undelivered messages count: they will come. */
export function requireTaskRoom(agent: Agent, added: number, limits: Limits): void {
  const live = agent.tasks.filter(isLiveTask).length + pendingTasks(agent).length;
  if (live + added <= limits.tasks) return;
  throw resourceExhausted("TASKS_FULL", `the agent has ${live} tasks; at most ${limits.tasks}`);
}

/** `task-1`, `task-2`, … without those that are taken; the counter never goes back. */
export function mintTaskIds(
  draft: Draft,
  count: number,
  alsoTaken: ReadonlySet<string> = new Set(),
): string[] {
  const taken = takenTaskIds(draft.agent);
  const ids: string[] = [];
  let { tasks } = draft.agent.counters;
  while (ids.length < count) {
    const id = `task-${++tasks}`;
    if (!taken.has(id) && !alsoTaken.has(id)) ids.push(id);
  }
  if (count > 0) change(draft, { counters: { ...draft.agent.counters, tasks } });
  return ids;
}

/** IN_PROGRESS and COMPLETED need the task active and no active blocker open. */
export function requireReady(task: Task, all: readonly Task[], field: string): void {
  if (!task.active) {
    const text = `${field}: task ${quoted(task.id)} is not active yet`;
    throw failedPrecondition("TASK_INACTIVE", task.id, text);
  }
  const blocker = openBlocker(task, all);
  if (blocker === undefined) return;
  const text = `${field}: task ${quoted(task.id)} is blocked by ${quoted(blocker.id)}`;
  throw failedPrecondition("TASK_BLOCKED", task.id, text);
}

/** Every edge leads to a task that is known, and none of them round in a ring. */
export function checkEdges(changed: readonly Task[], others: readonly Task[], field: string): void {
  const known = new Set([...changed, ...others].map(({ id }) => id));
  for (const task of changed) {
    const unknown = [...task.blocks, ...task.blockedBy].find((id) => !known.has(id));
    if (unknown === undefined) continue;
    const text = `task ${quoted(task.id)} names ${quoted(unknown)}, which is no task of this agent`;
    throw invalidField(field, text, "TASK_UNKNOWN");
  }
  const cycle = findCycle([...others, ...changed]);
  if (cycle === undefined) return;
  throw invalidField(field, `these tasks block one another in a ring: ${cycle.join(", ")}`, "TASK_CYCLE");
}

export function pendingTasks(agent: Agent): Task[] {
  return [...agent.queued, ...agent.deferred].flatMap((followUp) => followUp.tasks);
}

function checkTask(input: TaskInput, i: number): void {
  const at = (field: string) => `tasks[${i}].${field}`;
  const reserved = RESERVED.find((name) => input[name] !== "" && input[name] !== false);
  if (reserved !== undefined)
    throw invalidField(at(reserved), "set by the server; leave it out", "TASK_FIELD_RESERVED");
  if (input.id.length > ID_LENGTH)
    throw invalidField(at("id"), `longer than ${ID_LENGTH} characters`, "FIELD_TOO_LONG");
  if (input.status === TaskStatus.DELETED || TaskStatus[input.status] === undefined) {
    throw invalidField(
      at("status"),
      "must be PENDING, IN_PROGRESS or COMPLETED on create",
      "TASK_STATUS_INVALID",
    );
  }
  checkActivation(input, at("activation.filesModified.pattern"));
}

export function checkActivation(input: TaskInput, field: string): void {
  const pattern = filesModifiedOf(input.activation);
  const violation = pattern === undefined ? undefined : patternViolation(pattern);
  if (violation !== undefined) throw invalidField(field, violation, "PATTERN_INVALID");
}

function checkIds(agent: Agent, inputs: readonly TaskInput[]): void {
  const taken = takenTaskIds(agent);
  const seen = new Set<string>();
  inputs.forEach(({ id }, i) => {
    if (id === "") return;
    if (seen.has(id)) throw invalidField(`tasks[${i}].id`, `${quoted(id)} stands twice`, "TASK_ID_TWICE");
    seen.add(id);
    if (!taken.has(id)) return;
    const text = `tasks[${i}].id: ${quoted(id)} is taken, by a task of the list or of an undelivered message`;
    throw new Fault(Code.ALREADY_EXISTS, "TASK_ID_TAKEN", text, { metadata: { taskId: id } });
  });
}

function newTask(input: TaskInput, id: string): Task {
  const filesModified = filesModifiedOf(input.activation);
  return {
    id,
    subject: input.subject,
    description: input.description,
    status: input.status === TaskStatus.UNSPECIFIED ? TaskStatus.PENDING : input.status,
    blocks: [...new Set(input.blocks)],
    blockedBy: [...new Set(input.blockedBy)],
    filesModified,
    persona: "",
    dedupKey: "",
    ephemeral: false,
    active: filesModified === undefined,
  };
}
