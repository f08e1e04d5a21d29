import type { PersonaTask } from "../../../../gen/retinue/v1/catalog_pb.js";
import type { FieldViolation } from "../../fault.js";
import { quoted } from "../../name.js";
import { found, lineViolation, repeatViolations, textViolation } from "./field-rules.js";

/** An agent has no room for more. */
const TASKS_MAX = 500;
const ID_MAX = 128;
const SUBJECT_MAX = 1000;
const DESCRIPTION_MAX = 16 * 1024;
const PATTERN_MAX = 256;

/** What is wrong with the checklist of a persona. */
export function taskViolations(tasks: readonly PersonaTask[]): FieldViolation[] {
  if (tasks.length > TASKS_MAX) {
    return [{ field: "tasks", description: `at most ${TASKS_MAX} tasks, these are ${tasks.length}` }];
  }
  const ids = new Set(tasks.map((task) => task.id));
  const violations = tasks.flatMap((task, index) => [
    ...fieldViolations(task, `tasks[${index}]`),
    ...blockerViolations(task, `tasks[${index}].blockedBy`, ids),
  ]);
  const repeats = repeatViolations(
    tasks.map((task) => task.id),
    (index) => `tasks[${index}].id`,
  );
  return [...violations, ...repeats, ...cycleViolations(tasks)];
}

function fieldViolations(task: PersonaTask, field: string): FieldViolation[] {
  const { condition } = task.activation ?? {};
  const pattern = condition?.case === "filesModified" ? condition.value.pattern : "";
  return found(
    required(`${field}.id`, task.id) ?? lineViolation(`${field}.id`, task.id, ID_MAX),
    required(`${field}.subject`, task.subject) ??
      lineViolation(`${field}.subject`, task.subject, SUBJECT_MAX),
    textViolation(`${field}.description`, task.description, DESCRIPTION_MAX),
    textViolation(`${field}.activation.filesModified.pattern`, pattern, PATTERN_MAX),
  );
}

function blockerViolations(task: PersonaTask, field: string, ids: ReadonlySet<string>): FieldViolation[] {
  const unknown = task.blockedBy.map((id, index) =>
    ids.has(id)
      ? undefined
      : { field: `${field}[${index}]`, description: `the persona has no task with the id ${quoted(id)}` },
  );
  return [...found(...unknown), ...repeatViolations(task.blockedBy, (index) => `${field}[${index}]`)];
}

/** Names the first cycle that it finds: nobody could ever begin any task of it. */
function cycleViolations(tasks: readonly PersonaTask[]): FieldViolation[] {
  const blockers = new Map(tasks.map((task) => [task.id, task.blockedBy]));
  const done = new Set<string>();
  const visit = (id: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(id)) return [...path.slice(path.indexOf(id)), id];
    if (done.has(id)) return undefined;
    for (const blocker of blockers.get(id) ?? []) {
      const cycle = visit(blocker, [...path, id]);
      if (cycle !== undefined) return cycle;
    }
    done.add(id);
    return undefined;
  };
  for (const { id } of tasks) {
    const cycle = visit(id, []);
    if (cycle === undefined) continue;
    const index = tasks.findIndex((task) => task.id === cycle[0]);
    const shown = cycle.length <= 12 ? cycle : [...cycle.slice(0, 6), "…", ...cycle.slice(-5)];
    const description = `the tasks wait for each other in a circle: ${shown.map(shortened).join(" → ")}`;
    return [{ field: `tasks[${index}].blockedBy`, description }];
  }
  return [];
}

function shortened(id: string): string {
  return id.length <= 40 ? id : `${id.slice(0, 40)}…`;
}

function required(field: string, text: string): FieldViolation | undefined {
  return text.trim() === "" ? { field, description: "required" } : undefined;
}
