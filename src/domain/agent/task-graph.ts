import { TaskStatus } from "../../../gen/retinue/v1/task_pb.js";
import type { Task } from "./task.js";

/**
 * `blocks` and `blockedBy` are two views of one set of edges: each task gets the edges that others have with
 * it. Tasks that have them all are returned as they are, the very same object.
 */
export function symmetric(tasks: readonly Task[]): Task[] {
  const blocks = new Map<string, Set<string>>();
  const blockedBy = new Map<string, Set<string>>();
  const add = (map: Map<string, Set<string>>, of: string, id: string) => {
    const ids = map.get(of);
    if (ids === undefined) map.set(of, new Set([id]));
    else ids.add(id);
  };
  for (const task of tasks) {
    for (const id of task.blocks) add(blockedBy, id, task.id);
    for (const id of task.blockedBy) add(blocks, id, task.id);
  }
  return tasks.map((task) => {
    const next = {
      blocks: union(task.blocks, blocks.get(task.id)),
      blockedBy: union(task.blockedBy, blockedBy.get(task.id)),
    };
    const same = next.blocks === task.blocks && next.blockedBy === task.blockedBy;
    return same ? task : { ...task, ...next };
  });
}

function union(ids: readonly string[], more: ReadonlySet<string> | undefined): readonly string[] {
  const missing = [...(more ?? [])].filter((id) => !ids.includes(id));
  return missing.length === 0 ? ids : [...ids, ...missing];
}

/** The tasks without those of `gone`, and without every edge to them. */
export function without(tasks: readonly Task[], gone: ReadonlySet<string>): Task[] {
  const drop = (ids: readonly string[]) =>
    ids.some((id) => gone.has(id)) ? ids.filter((id) => !gone.has(id)) : ids;
  return tasks
    .filter((task) => !gone.has(task.id))
    .map((task) => {
      const next = { blocks: drop(task.blocks), blockedBy: drop(task.blockedBy) };
      const same = next.blocks === task.blocks && next.blockedBy === task.blockedBy;
      return same ? task : { ...task, ...next };
    });
}

/** Some tasks that wait for one another in a ring, in order; undefined without one. */
export function findCycle(tasks: readonly Task[]): string[] | undefined {
  const blockers = new Map(tasks.map((task) => [task.id, new Set<string>()]));
  for (const task of symmetric(tasks)) {
    for (const id of task.blockedBy) if (blockers.has(id)) blockers.get(task.id)?.add(id);
  }
  const waiting = new Map([...blockers].map(([id, ids]) => [id, ids.size]));
  const free = [...waiting].filter(([, count]) => count === 0).map(([id]) => id);
  const blocks = new Map<string, string[]>();
  for (const [id, ids] of blockers) for (const by of ids) blocks.set(by, [...(blocks.get(by) ?? []), id]);
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    waiting.delete(id);
    for (const next of blocks.get(id) ?? []) {
      const left = (waiting.get(next) ?? 0) - 1;
      waiting.set(next, left);
      if (left === 0) free.push(next);
    }
  }
  // Whatever is left has a blocker that is left too: walking up must come round.
  let id = waiting.keys().next().value;
  if (id === undefined) return undefined;
  const walk: string[] = [];
  while (!walk.includes(id)) {
    walk.push(id);
    id = [...(blockers.get(id) ?? [])].find((by) => waiting.has(by)) as string;
  }
  return walk.slice(walk.indexOf(id));
}

/** A blocker that keeps the task from being begun: active, and neither COMPLETED nor DELETED. */
export function openBlocker(task: Task, tasks: readonly Task[]): Task | undefined {
  return tasks.find(
    (other) =>
      (task.blockedBy.includes(other.id) || other.blocks.includes(task.id)) &&
      other.active &&
      other.status !== TaskStatus.COMPLETED &&
      other.status !== TaskStatus.DELETED,
  );
}
