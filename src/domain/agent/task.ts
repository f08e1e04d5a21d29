import type { MessageInitShape } from "@bufbuild/protobuf";
import { type TaskSchema, TaskStatus } from "../../../gen/retinue/v1/task_pb.js";
import type { Agent } from "./agent.js";

/** An item of the checklist. */
export interface Task {
  readonly id: string;
  readonly subject: string;
  readonly description: string;
  readonly status: TaskStatus;
  /**
   * Kept symmetric with the other task's `blockedBy` as soon as both are on the list. An ID may be of a task
   * that a message still brings; until then it blocks nothing and is not shown.
   */
  readonly blocks: readonly string[];
  readonly blockedBy: readonly string[];
  /** Glob of the activation `filesModified`, empty for any file; undefined: always active. */
  readonly filesModified: string | undefined;
  readonly persona: string;
  readonly dedupKey: string;
  readonly ephemeral: boolean;
  readonly active: boolean;
}

/** A task as a request spells it; the generated message is one. */
export interface TaskInput {
  readonly id: string;
  readonly subject: string;
  readonly description: string;
  readonly status: TaskStatus;
  readonly blocks: readonly string[];
  readonly blockedBy: readonly string[];
  readonly activation?: ActivationInput | undefined;
  readonly persona: string;
  readonly dedupKey: string;
  readonly ephemeral: boolean;
}

export interface ActivationInput {
  readonly condition:
    | { readonly case: "filesModified"; readonly value: { readonly pattern: string } }
    | { readonly case: undefined; readonly value?: undefined };
}

/** A task of a persona document; the generated message is one. */
export interface PersonaTaskInput {
  readonly id: string;
  readonly subject: string;
  readonly description: string;
  readonly blockedBy: readonly string[];
  readonly activation?: ActivationInput | undefined;
}

export interface PersonaTask {
  readonly id: string;
  readonly subject: string;
  readonly description: string;
  readonly blockedBy: readonly string[];
  readonly filesModified: string | undefined;
}

export function filesModifiedOf(activation: ActivationInput | undefined): string | undefined {
  return activation?.condition.case === "filesModified" ? activation.condition.value.pattern : undefined;
}

export function personaTask(input: PersonaTaskInput): PersonaTask {
  const { id, subject, description, blockedBy } = input;
  return { id, subject, description, blockedBy, filesModified: filesModifiedOf(input.activation) };
}

export function isLiveTask(task: Task): boolean {
  return task.status !== TaskStatus.DELETED;
}

/** Whether the task asks for work now: it is shown to the agent and holds back its completion. */
export function isOpenTask(task: Task): boolean {
  return task.active && (task.status === TaskStatus.PENDING || task.status === TaskStatus.IN_PROGRESS);
}

/** What an agent program gets to see of its checklist. */
export function visibleTasks(agent: Agent): Task[] {
  return agent.tasks.filter((task) => task.active && isLiveTask(task));
}

/** Every ID that is taken: of the list, deleted ones too, and of messages that are still to be delivered. */
export function takenTaskIds(agent: Agent): Set<string> {
  const taken = new Set(agent.tasks.map((task) => task.id));
  for (const followUp of [...agent.queued, ...agent.deferred]) {
    for (const task of followUp.tasks) taken.add(task.id);
  }
  return taken;
}

/** The task as answers and events show it. */
export function taskMessage(task: Task, known: ReadonlySet<string>): MessageInitShape<typeof TaskSchema> {
  const { filesModified, blocks, blockedBy, ...same } = task;
  return {
    ...same,
    blocks: blocks.filter((id) => known.has(id)),
    blockedBy: blockedBy.filter((id) => known.has(id)),
    ...(filesModified === undefined
      ? {}
      : { activation: { condition: { case: "filesModified", value: { pattern: filesModified } } } }),
  };
}
