import assert from "node:assert/strict";
import { test } from "node:test";
import { approvalOf } from "../../src/runner/codex/approvals.js";
import { toolCall, toolResult } from "../../src/runner/codex/items.js";
import { strictSchema } from "../../src/runner/codex/strict-schema.js";
import { createTokenMeter } from "../../src/runner/codex/token-meter.js";
import { resultOf } from "../../src/runner/codex/turn-result.js";
import { wordsOf } from "../../src/runner/profiles/command-line.js";

const counts = (inputTokens: number, cachedInputTokens: number, outputTokens: number) => ({
  inputTokens,
  cachedInputTokens,
  outputTokens,
});
const delta = (inputTokens: number, cachedInputTokens: number, outputTokens: number) => ({
  ...counts(inputTokens, cachedInputTokens, outputTokens),
  cost: 0,
});

test("tokens: what each report adds, cached ones apart", () => {
  const meter = createTokenMeter();
  assert.deepEqual(
    meter.read({ total: counts(100, 40, 10), last: counts(100, 40, 10) }, true),
    delta(60, 40, 10),
  );
  assert.deepEqual(meter.read({ total: counts(150, 40, 15), last: counts(50, 0, 5) }, true), delta(50, 0, 5));
  // The same report again adds nothing.
  assert.deepEqual(meter.read({ total: counts(150, 40, 15), last: counts(50, 0, 5) }, true), delta(0, 0, 0));
});

test("tokens: a resumed thread's total is not counted twice", () => {
  const meter = createTokenMeter();
  assert.deepEqual(
    meter.read({ total: counts(500, 100, 50), last: counts(20, 5, 2) }, true),
    delta(15, 5, 2),
  );
  const told = createTokenMeter();
  assert.deepEqual(told.read({ total: counts(500, 100, 50), last: counts(20, 5, 2) }, false), delta(0, 0, 0));
  assert.deepEqual(told.read({ total: counts(530, 100, 53), last: counts(30, 0, 3) }, true), delta(30, 0, 3));
});

test("tokens: a total that fell is a new beginning, and nothing is negative", () => {
  const meter = createTokenMeter();
  meter.read({ total: counts(500, 100, 50), last: counts(500, 100, 50) }, true);
  assert.deepEqual(meter.read({ total: counts(30, 0, 3), last: counts(30, 0, 3) }, true), delta(30, 0, 3));
  assert.deepEqual(meter.read({}, true), delta(0, 0, 0));
});

const failures: [string, unknown, string, string | undefined, boolean][] = [
  ["a wrong key", "unauthorized", "failed", "backend_auth", true],
  [
    "a forbidden one",
    { responseStreamConnectionFailed: { httpStatusCode: 403 } },
    "failed",
    "backend_auth",
    true,
  ],
  ["a bad request", "badRequest", "failed", "backend_refused", true],
  ["an unknown model", { httpConnectionFailed: { httpStatusCode: 404 } }, "failed", "backend_refused", true],
  ["an outage", "serverOverloaded", "failed", "backend_unavailable", false],
  [
    "too many attempts",
    { responseTooManyFailedAttempts: { httpStatusCode: 429 } },
    "failed",
    "backend_unavailable",
    false,
  ],
  ["a kind of tomorrow", "somethingNew", "failed", "backend_unavailable", false],
  ["a full context", "contextWindowExceeded", "limit", "length_limit", false],
];

for (const [name, codexErrorInfo, outcome, kind, fatal] of failures) {
  test(`turn result: ${name}`, () => {
    const result = resultOf({ status: "failed", error: { message: "why", codexErrorInfo } });
    assert.deepEqual([result.outcome, result.error?.kind, result.error?.fatal], [outcome, kind, fatal]);
    assert.equal(result.error?.message, "why");
  });
}

test("turn result: the other ends", () => {
  assert.deepEqual(resultOf({ status: "completed" }), { outcome: "completed" });
  assert.deepEqual(resultOf({ status: "interrupted" }), { outcome: "cancelled" });
  assert.equal(resultOf({ status: "odd" }).error?.kind, "agent_protocol");
});

const object = (properties: object, more: object = {}) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const schemas: [string, unknown, boolean][] = [
  ["an object with all its properties required", object({ a: { type: "string" } }), true],
  ["objects within", object({ a: { type: "array", items: object({ b: { type: "integer" } }) } }), true],
  ["a choice", object({ a: { anyOf: [{ type: "string" }, { type: "null" }] } }), true],
  ["no object at the root", { type: "array", items: { type: "string" } }, false],
  ["further properties", object({ a: { type: "string" } }, { additionalProperties: true }), false],
  ["an optional property", object({ a: { type: "string" } }, { required: [] }), false],
  ["a keyword that the server does not know", object({ a: { type: "string" } }, { not: {} }), false],
  ["the same within", object({ a: { type: "object", properties: {} } }), false],
  ["a part that says nothing", object({ a: {} }), false],
];

for (const [name, schema, taken] of schemas) {
  test(`strict schema: ${name} is ${taken ? "sent" : "left to the tool"}`, () => {
    assert.deepEqual(strictSchema(JSON.stringify(schema)), taken ? schema : undefined);
  });
}

test("items: a command, its output and its failure", () => {
  const item = { type: "commandExecution", id: "1", command: "/bin/bash -lc 'npm test'", cwd: "/w" };
  const input = { command: "npm test", cwd: "/w" };
  assert.deepEqual(toolCall(item), [
    { type: "toolCall", id: "1", title: "npm test", kind: "execute", input },
  ]);
  const ended = { ...item, status: "failed", aggregatedOutput: "1 failed\n", exitCode: 1 };
  assert.deepEqual(toolResult(ended), [
    { type: "toolResult", id: "1", failed: true, output: "1 failed\nexit code 1" },
  ]);
  assert.deepEqual(toolCall({ type: "userMessage", id: "2" }), []);
});

test("approvals: what is asked, and how it is answered", () => {
  const command = approvalOf(
    "item/commandExecution/requestApproval",
    { itemId: "1", command: "bash -lc 'ls -a'" },
    () => undefined,
  );
  assert.deepEqual(command?.request.input, { command: "ls -a", cwd: "" });
  assert.deepEqual(command?.answer("allow"), { decision: "accept" });
  assert.deepEqual(command?.answer("reject"), { decision: "decline" });
  assert.deepEqual(command?.answer("cancelled"), { decision: "cancel" });
  const told = { id: "2", changes: [{ path: "/w/a", kind: { type: "add" }, diff: "+x" }] };
  const change = approvalOf("item/fileChange/requestApproval", { itemId: "2" }, () => told);
  assert.deepEqual([change?.request.tool, change?.request.title], ["apply_patch", "change /w/a"]);
  assert.equal(
    approvalOf("item/tool/call", {}, () => undefined),
    undefined,
  );
});

test("command lines: blanks part words, quotes keep them together", () => {
  assert.deepEqual(wordsOf(`node "/a b/c.js" --x='y z' \\"w  `), ["node", "/a b/c.js", "--x=y z", '"w']);
  assert.deepEqual(wordsOf("  "), []);
});
