import { TaskStatus } from "../../../gen/retinue/v1/task_pb.js";
import { failedPrecondition, invalidField, notFound } from "../fault.js";
import { quoted } from "../name.js";
import type { Agent } from "./agent.js";
import { type Context, type Decision, type Draft, decided, openDraft } from "./decision.js";
import { requireAlive } from "./phase.js";
import { promoteDue } from "./queue.js";
import { settle } from "./settle.js";
import { filesModifiedOf, isLiveTask, type Task, type TaskInput, takenTaskIds } from "./task.js";
import { symmetric, without } from "./task-graph.js";
import { checkActivation, checkEdges, pendingTasks, requireReady } from "./task-input.js";
import { writeTasks } from "./task-list.js";

type Rule = "free" | "ready" | "final";
type Status = Exclude<TaskStatus, TaskStatus.UNSPECIFIED>;

const { PENDING, IN_PROGRESS, COMPLETED, DELETED } = TaskStatus;

/** `free`: always. `ready`: needs the task active and its blockers done. `final`: never again. */
export const STATUS_CHANGES: Readonly<Record<Status, Readonly<Record<Status, Rule>>>> = {
  [PENDING]: { [PENDING]: "free", [IN_PROGRESS]: "ready", [COMPLETED]: "ready", [DELETED]: "free" },
  [IN_PROGRESS]: { [PENDING]: "free", [IN_PROGRESS]: "free", [COMPLETED]: "ready", [DELETED]: "free" },
  [COMPLETED]: { [PENDING]: "free", [IN_PROGRESS]: "ready", [COMPLETED]: "free", [DELETED]: "free" },
  [DELETED]: { [PENDING]: "final", [IN_PROGRESS]: "final", [COMPLETED]: "final", [DELETED]: "free" },
};

/** Deleted tasks that are remembered, newest first to go last; more would let an agent grow without end. */
const DELETED_KEPT = 500;

export interface UpdateTask {
  readonly task: TaskInput;
  /** JSON or proto names; empty: what is set in `task`. */
  readonly paths: readonly string[];
}

type Field = "subject" | "description" | "status" | "blocks" | "blockedBy" | "activation";

const FIELDS: Readonly<Record<string, Field>> = {
  subject: "subject",
  description: "description",
  status: "status",
  blocks: "blocks",
  blockedBy: "blockedBy",
  blocked_by: "blockedBy",
  activation: "activation",
};

/** Changes the named fields of one task. */
export function updateTask(
  agent: Agent,
  input: UpdateTask,
  context: Context,
): Decision<{ readonly task: Task }> {
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  requireAlive(draft.agent);
  const fields = maskOf(input);
  const { id } = input.task;
  if (id === "") throw invalidField("task.id", "required", "FIELD_REQUIRED");
  const old = draft.agent.tasks.find((task) => task.id === id);
  if (old === undefined) throw notFound("TASK_NOT_FOUND", `no task ${quoted(id)}`, { taskId: id });
  const next = patched(old, input.task, fields);
  const stays = fields.length === 1 && fields[0] === "status" && next.status === old.status;
  if (!isLiveTask(old) && !stays) {
    throw failedPrecondition("TASK_DELETED", id, `task ${quoted(id)} is deleted, which is final`);
  }
  if (!stays) replace(draft, old, next, fields);
  settle(draft, context);
  return decided(draft, { task: draft.agent.tasks.find((task) => task.id === id) ?? next });
}

function replace(draft: Draft, old: Task, next: Task, fields: readonly Field[]): void {
  const { tasks } = draft.agent;
  let list: readonly Task[] = tasks;
  if (fields.includes("blocks") || fields.includes("blockedBy")) {
    const kept = withoutLost(next, draft.agent, fields);
    const others = unlinked(tasks, old, kept);
    checkEdges([kept], [...others, ...pendingTasks(draft.agent)], "task");
    list = symmetric(insertAt(others, tasks.indexOf(old), kept));
  } else {
    list = tasks.map((task) => (task === old ? next : task));
  }
  const current = list.find((task) => task.id === next.id) ?? next;
  if (STATUS_CHANGES[old.status as Status][next.status as Status] === "ready") {
    requireReady(current, list, "task.status");
  }
  writeTasks(draft, forgetOldest(list));
}

/** Edges that the update does not name may lead to a task whose message was cleared: these go, unnoticed. */
function withoutLost(task: Task, agent: Agent, fields: readonly Field[]): Task {
  const known = takenTaskIds(agent);
  const keep = (ids: readonly string[], field: Field) =>
    fields.includes(field) ? ids : ids.filter((id) => known.has(id));
  return { ...task, blocks: keep(task.blocks, "blocks"), blockedBy: keep(task.blockedBy, "blockedBy") };
}

/** The other tasks without the edges that the new version has dropped. */
function unlinked(tasks: readonly Task[], old: Task, next: Task): Task[] {
  return tasks
    .filter((task) => task !== old)
    .map((task) => {
      const blockedBy = next.blocks.includes(task.id) ? task.blockedBy : drop(task.blockedBy, old.id);
      const blocks = next.blockedBy.includes(task.id) ? task.blocks : drop(task.blocks, old.id);
      return blocks === task.blocks && blockedBy === task.blockedBy ? task : { ...task, blocks, blockedBy };
    });
}

function drop(ids: readonly string[], id: string): readonly string[] {
  return ids.includes(id) ? ids.filter((other) => other !== id) : ids;
}

function insertAt(tasks: readonly Task[], at: number, task: Task): Task[] {
  return [...tasks.slice(0, at), task, ...tasks.slice(at)];
}

function forgetOldest(tasks: readonly Task[]): readonly Task[] {
  const deleted = tasks.filter((task) => !isLiveTask(task));
  if (deleted.length <= DELETED_KEPT) return tasks;
  return without(tasks, new Set(deleted.slice(0, deleted.length - DELETED_KEPT).map(({ id }) => id)));
}

function maskOf({ task, paths }: UpdateTask): Field[] {
  const reserved = (["persona", "dedupKey", "ephemeral"] as const).find((name) => Boolean(task[name]));
  if (reserved !== undefined) {
    throw invalidField(`task.${reserved}`, "set by the server; leave it out", "TASK_FIELD_RESERVED");
  }
  const unknown = paths.find((path) => FIELDS[path] === undefined);
  if (unknown !== undefined) {
    const text = `${quoted(unknown)} cannot be changed; use subject, description, status, blocks, blockedBy, activation`;
    throw invalidField("updateMask", text, "MASK_INVALID");
  }
  const named = paths.map((path) => FIELDS[path] as Field);
  const fields = named.length > 0 ? named : setFields(task);
  if (fields.length === 0) throw invalidField("task", "nothing to change", "FIELD_REQUIRED");
  const { status } = task;
  if (fields.includes("status") && (status === TaskStatus.UNSPECIFIED || TaskStatus[status] === undefined)) {
    throw invalidField(
      "task.status",
      "must be PENDING, IN_PROGRESS, COMPLETED or DELETED",
      "TASK_STATUS_INVALID",
    );
  }
  if (fields.includes("activation")) checkActivation(task, "task.activation.filesModified.pattern");
  return fields;
}

function setFields(task: TaskInput): Field[] {
  const fields: Field[] = [];
  if (task.subject !== "") fields.push("subject");
  if (task.description !== "") fields.push("description");
  if (task.status !== TaskStatus.UNSPECIFIED) fields.push("status");
  if (task.blocks.length > 0) fields.push("blocks");
  if (task.blockedBy.length > 0) fields.push("blockedBy");
  if (task.activation !== undefined) fields.push("activation");
  return fields;
}

function patched(old: Task, input: TaskInput, fields: readonly Field[]): Task {
  const filesModified = filesModifiedOf(input.activation);
  const values: Readonly<Record<Field, Partial<Task>>> = {
    subject: { subject: input.subject },
    description: { description: input.description },
    status: { status: input.status },
    blocks: { blocks: [...new Set(input.blocks)] },
    blockedBy: { blockedBy: [...new Set(input.blockedBy)] },
    // A new condition counts from the next push on.
    activation:
      filesModified === old.filesModified ? {} : { filesModified, active: filesModified === undefined },
  };
  return Object.assign({}, old, ...fields.map((field) => values[field]));
}
