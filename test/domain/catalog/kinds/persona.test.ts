import { persona } from "../../../../src/domain/catalog/kinds/persona.js";
import { type BadRow, describedRows, type GoodRow, testRows } from "./violation-rows.js";

const described = describedRows({});
const task = (id: string, ...blockedBy: string[]) => ({ id, subject: "do it", blockedBy });
const one = (fields: object) => ({ tasks: [{ ...task("a"), ...fields }] });
const pattern = (glob: string) => one({ activation: { filesModified: { pattern: glob } } });
const KIB = 1024;

const good: GoodRow[] = [
  ...described.good,
  ["may be empty", {}],
  ["takes 200 KiB of instructions", { instructions: "x".repeat(200 * KIB) }],
  ["takes a schema", { outputSchema: '{"type":"object"}' }],
  ["takes 64 KiB of schema", { outputSchema: `{}${" ".repeat(64 * KIB - 2)}` }],
  ["takes tasks that wait for others", { tasks: [task("a"), task("b", "a"), task("c", "a", "b")] }],
  ["takes tasks that wait for later ones", { tasks: [task("b", "a"), task("a")] }],
  ["takes an id of 128 characters", one({ id: "x".repeat(128) })],
  ["takes a glob of 256 characters", pattern("*".repeat(256))],
  ["takes any file", pattern("")],
  ["takes an activation without a condition", one({ activation: {} })],
  ["takes a ladder with more ways up it than could ever be walked", { tasks: ladder(60) }],
  ["takes 500 tasks, each waiting for the one before", { tasks: chain(500) }],
];

const bad: BadRow[] = [
  ...described.bad,
  [
    "refuses more instructions",
    { instructions: "x".repeat(200 * KIB + 1) },
    "instructions",
    "at most 200 KiB",
  ],
  [
    "counts instructions in bytes",
    { instructions: "ü".repeat(100 * KIB + 1) },
    "instructions",
    "204802 bytes",
  ],
  ["refuses a schema that is not JSON", { outputSchema: "type: object" }, "outputSchema", "not JSON"],
  ["refuses a schema that is a list", { outputSchema: "[]" }, "outputSchema", "JSON object"],
  ["refuses a schema that is true", { outputSchema: "true" }, "outputSchema", "JSON object"],
  ["refuses a schema that is null", { outputSchema: "null" }, "outputSchema", "JSON object"],
  ["refuses more schema", { outputSchema: `{}${" ".repeat(64 * KIB)}` }, "outputSchema", "at most 64 KiB"],
  ["refuses a task without an id", { tasks: [{ subject: "x" }] }, "tasks[0].id", "required"],
  ["refuses an id of 129 characters", one({ id: "x".repeat(129) }), "tasks[0].id", "at most 128"],
  ["refuses an id of two lines", one({ id: "a\nb" }), "tasks[0].id", "one line"],
  ["refuses an id twice", { tasks: [task("a"), task("a")] }, "tasks[1].id", '"a" is already at tasks[0].id'],
  ["refuses a task without a subject", { tasks: [{ id: "a" }] }, "tasks[0].subject", "required"],
  ["refuses a subject of spaces", one({ subject: "  " }), "tasks[0].subject", "required"],
  ["refuses a subject of two lines", one({ subject: "a\nb" }), "tasks[0].subject", "one line"],
  ["refuses an endless subject", one({ subject: "x".repeat(1001) }), "tasks[0].subject", "at most 1000"],
  [
    "refuses an endless description",
    one({ description: "x".repeat(16385) }),
    "tasks[0].description",
    "at most 16384",
  ],
  ["refuses a blocker that there is not", { tasks: [task("a", "b")] }, "tasks[0].blockedBy[0]", '"b"'],
  [
    "refuses a blocker twice",
    { tasks: [task("a"), task("b", "a", "a")] },
    "tasks[1].blockedBy[1]",
    "already at tasks[1].blockedBy[0]",
  ],
  ["refuses a task that waits for itself", { tasks: [task("a", "a")] }, "tasks[0].blockedBy", "a → a"],
  [
    "names the circle, without the way to it",
    { tasks: [task("start", "a"), task("a", "b"), task("b", "c"), task("c", "a")] },
    "tasks[1].blockedBy",
    "circle: a → b → c → a",
  ],
  [
    "shows the ends of a long circle",
    { tasks: [...chain(500).slice(1), task("t0", "t499")] },
    "tasks[0].blockedBy",
    "t1 → t0 → t499 → t498 → t497 → t496 → … → t5 → t4 → t3 → t2 → t1",
  ],
  ["refuses 501 tasks", { tasks: chain(501) }, "tasks", "at most 500 tasks, these are 501"],
  [
    "refuses an endless glob",
    pattern("*".repeat(257)),
    "tasks[0].activation.filesModified.pattern",
    "at most 256",
  ],
  [
    "refuses settings that do not go together",
    { settings: { model: "gpt-5", reasoningEffort: "max" } },
    "settings.reasoningEffort",
    "backend B",
  ],
];

/** Two tasks a rung, each waiting for both of the rung below: 2^rungs ways to the top. */
function ladder(rungs: number) {
  return Array.from({ length: 2 * rungs }, (_, i) => {
    const below = 2 * (Math.floor(i / 2) - 1);
    return below < 0 ? task(`t${i}`) : task(`t${i}`, `t${below}`, `t${below + 1}`);
  }).reverse();
}

function chain(length: number) {
  return Array.from({ length }, (_, i) => (i === 0 ? task("t0") : task(`t${i}`, `t${i - 1}`)));
}

testRows(persona, good, bad);
