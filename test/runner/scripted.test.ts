import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { before, test } from "node:test";
import { TOOL } from "../../src/runner/agent-tools.js";
import type { Session, Update } from "../../src/runner/runner.js";
import { cleanUp } from "../support/cleanup.js";
import { type Bench, openBench, prompt, says, tell } from "./fixture.js";
import { startMcp, type TestMcp } from "./mcp-server.js";

let mcp: TestMcp;
let bench: Bench;
let session: Session;
let run = 0;

before(async () => {
  mcp = await startMcp();
  bench = await openBench({ mcpUrl: mcp.url });
  session = await bench.start();
});

/** One turn in a run of its own, to its end. */
async function turn(text: string) {
  run += 1;
  mcp.take();
  const told = tell(session, text, run);
  const result = await told.result;
  return { ...told, result, said: told.text(), calls: mcp.take() };
}

const usageOf = (updates: readonly Update[]) =>
  updates.flatMap((update) => (update.type === "usage" ? [update.usage.cost] : []));

test("every turn says that it is a script and no model", async () => {
  const { said, result } = await turn("@say hello\n  @say  and goodbye ");
  assert.equal(said, "[script, no model]\nhello\nand goodbye\n");
  assert.equal(result.outcome, "completed");
  assert.equal(session.build, "retinue-script 1");
});

test("@sleep takes its time, and lines without a directive mean nothing", async () => {
  const start = performance.now();
  const { said } = await turn("Hello, script.\n@sleep 0.25s\nmail me@example.com @say not this\n@say awake");
  assert.ok(performance.now() - start >= 250);
  assert.equal(said, "[script, no model]\nawake\n");
});

const CALLS: readonly (readonly [
  directive: string,
  tool: string,
  args: Record<string, unknown>,
  ends: boolean,
])[] = [
  ["@ask Which colour?", TOOL.ask, { question: "Which colour?" }, true],
  ["@complete all done", TOOL.complete, { result: "all done" }, true],
  ['@output {"a": [1, null]}', TOOL.output, { output: { a: [1, null] } }, false],
  ["@task t1 in_progress", TOOL.taskUpdate, { id: "t1", status: "in_progress" }, false],
  ["@addtask t2 wash up, please", TOOL.taskAdd, { id: "t2", subject: "wash up, please" }, false],
  [
    "@spawn kid | @say hi | @complete ok",
    TOOL.spawnChild,
    { name: "kid", description: "@say hi\n@complete ok" },
    false,
  ],
];

for (const [directive, name, args, ends] of CALLS) {
  test(`${directive} calls ${name} and ${ends ? "ends the script" : "goes on"}`, async () => {
    const { calls, said, updates } = await turn(`${directive}\n@say more`);
    assert.deepEqual(calls, [[name, args]]);
    assert.equal(said.includes("more"), !ends);
    const call = updates.find((update) => update.type === "toolCall");
    assert.deepEqual(call?.type === "toolCall" && [call.title, call.input], [name, args]);
    assert.ok(
      updates.some((update) => update.type === "toolResult" && update.id === call?.id && !update.failed),
    );
  });

  test(`${directive}: a refusal is said`, async () => {
    mcp.handle(() => {
      throw new Error("no, because");
    });
    const { said, result, updates } = await turn(`${directive}\n@say more`);
    mcp.handle(() => undefined);
    assert.ok(said.includes(`${name} was refused: no, because`), said);
    assert.equal(said.includes("more"), !ends);
    assert.equal(result.outcome, "completed");
    assert.ok(updates.some((update) => update.type === "toolResult" && update.failed));
  });
}

test("tools are called with the agent's key", () => {
  assert.deepEqual(new Set(mcp.calls.map((call) => call.authorization)), new Set(["Bearer the-agents-key"]));
});

test("@await asks again while the child moves, and says how it ended", async () => {
  const phases = ["PHASE_RUNNING", "SLEEPING", "COMPLETED"];
  mcp.handle(() => ({ phase: phases.shift(), result: phases.length === 0 ? "42" : "" }));
  const { calls, said } = await turn("@await kid");
  mcp.handle(() => undefined);
  assert.deepEqual(calls, Array(3).fill([TOOL.awaitChild, { name: "kid", timeoutSeconds: 20 }]));
  assert.ok(said.endsWith("kid is COMPLETED: 42\n"), said);
});

test("@fail fails for good, with its message", async () => {
  const { result } = await turn("@fail out of cheese\n@say more");
  const error = { kind: "script_failed", message: "out of cheese", retryable: false, fatal: true };
  assert.deepEqual(result, { outcome: "failed", error });
});

test("@run runs in the work folder; its output and exit code are said", async () => {
  const { said, updates } = await turn("@run pwd; echo oops >&2; exit 3");
  assert.equal(said, `[script, no model]\n${bench.spec().cwd}\noops\n(ended with code 3)\n`);
  const results = updates.filter((update) => update.type === "toolResult");
  assert.deepEqual(
    results.map(({ failed, output }) => [failed, output]),
    [[true, `${bench.spec().cwd}\noops\n(ended with code 3)`]],
  );
});

test("@run: long output is cut", async () => {
  const { said } = await turn("@run yes | head -c 200000");
  assert.ok(said.endsWith("(cut after 65536 of 200000 bytes)\n"));
});

test("@usage: tokens come with the result, money as it is spent", async () => {
  const { result, updates } = await turn("@usage 10 20 30 0.5\n@usage 1 2 3 0.25");
  assert.deepEqual(result.usage, { inputTokens: 11, cachedInputTokens: 33, outputTokens: 22, cost: 0 });
  assert.deepEqual(usageOf(updates), [0.5, 0.25]);
  const next = await turn("@usage 0 0 0 1");
  assert.deepEqual(next.result.usage, { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, cost: 0 });
  assert.deepEqual(usageOf(next.updates), [1]);
});

test("what cannot be followed is said, and the script goes on", async () => {
  const { said, result, calls } = await turn(
    "@sleep long\n@output {\n@task t1\n@addtask t1\n@spawn kid\n@await\n@run\n@usage 1 -2 3 4\n@say end",
  );
  assert.equal(said.split("\n").filter((line) => line.startsWith("@")).length, 8, said);
  assert.ok(said.endsWith("end\n"));
  assert.equal(result.outcome, "completed");
  assert.deepEqual(calls, []);
});

const TASKS = [
  { id: "c", subject: "last", status: "TASK_STATUS_PENDING", active: true, blockedBy: ["b"] },
  { id: "a", subject: "done", status: "completed", active: true, blockedBy: [] },
  { id: "b", subject: "first", status: "in_progress", active: true, blockedBy: ["a"] },
  { id: "d", subject: "not yet", status: "pending", active: false, blockedBy: [] },
];

test("without a directive it says so and walks its open checklist, blockers first", async () => {
  mcp.handle(({ name }) => (name === TOOL.checklist ? { tasks: TASKS } : undefined));
  const { said, calls, result } = await turn("Please do the work. @nobody");
  assert.match(said, /There is no directive/);
  assert.deepEqual(calls, [
    [TOOL.checklist, {}],
    [TOOL.taskUpdate, { id: "b", status: "in_progress" }],
    [TOOL.taskUpdate, { id: "b", status: "completed" }],
    [TOOL.taskUpdate, { id: "c", status: "in_progress" }],
    [TOOL.taskUpdate, { id: "c", status: "completed" }],
  ]);
  assert.equal(result.outcome, "completed");
});

test("@ignore leaves the checklist alone, also when the platform reminds of it in the same run", async () => {
  mcp.handle(({ name }) => (name === TOOL.checklist ? { tasks: TASKS } : undefined));
  const { calls } = await turn("@ignore");
  assert.deepEqual(calls, []);
  await prompt(session, [{ from: "platform", text: "tasks are open" }], run).result;
  assert.deepEqual(mcp.take(), []);
  run += 1;
  await prompt(session, [{ from: "platform", text: "news in a new run" }], run).result;
  assert.equal(mcp.take().length, 5);
});

test("directives in the platform's text are never followed", async () => {
  mcp.handle(() => undefined);
  mcp.take();
  const parts = [
    { from: "platform", text: "@crash\n@say child news" },
    { from: "caller", text: "@say the caller's" },
    { from: "platform", text: "\n@complete forged" },
  ] as const;
  run += 1;
  const mixed = prompt(session, parts, run);
  assert.equal((await mixed.result).outcome, "completed");
  assert.equal(mixed.text(), "[script, no model]\nthe caller's\n");
  assert.deepEqual(mcp.take(), []);
  const alone = prompt(session, [{ from: "platform", text: "@fail\n@crash" }], run + 1);
  run += 1;
  assert.equal((await alone.result).outcome, "completed");
  assert.match(alone.text(), /There is no directive/);
});

test("settings are applied, model first, and kept; what is the same is not sent again", async () => {
  const settings = { model: "script-b", reasoningEffort: "none", serviceTier: "flex", fastMode: true };
  assert.deepEqual(await session.apply(settings), []);
  const file = `${bench.spec().home}/.retinue-script/${session.sessionRef}.json`;
  const chosen = { model: "script-b", effort: "none", service_tier: "flex", fast: "on" };
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")).settings, chosen);
  await session.apply({ ...settings, fastMode: false });
  assert.equal(JSON.parse(readFileSync(file, "utf8")).settings.fast, "off");
  await assert.rejects(session.apply({ ...settings, reasoningEffort: "huge" }), {
    name: "RunnerError",
    kind: "setting_refused",
    fatal: true,
  });
});

test("a tool call is cancelled with its turn, and a tool that cannot be reached is a refusal", async () => {
  const aborted = new Promise<void>((resolve) => {
    mcp.handle((_call, signal) => new Promise(() => signal.addEventListener("abort", () => resolve())));
  });
  const told = tell(session, "@ask anybody there?", ++run);
  await told.seen((update) => update.type === "toolCall");
  await session.cancel();
  assert.equal((await told.result).outcome, "cancelled");
  mcp.handle(() => undefined);
  await aborted;

  const lost = await bench.start({ uid: "agent-2", mcp: { url: "http://127.0.0.1:1/mcp", key: "k" } });
  const alone = tell(lost, "@complete x\n");
  assert.equal((await alone.result).outcome, "completed");
  assert.match(alone.text(), /retinue_complete was refused: /);
});

test("a cancel does not wait for a platform that does not answer", async () => {
  const deaf = createServer(() => {});
  await new Promise<void>((resolve) => deaf.listen(0, "127.0.0.1", resolve));
  cleanUp(() => deaf.close());
  const url = `http://127.0.0.1:${(deaf.address() as AddressInfo).port}/mcp`;
  const lonely = await bench.start({ uid: "agent-4", mcp: { url, key: "k" } });
  const told = tell(lonely, "@ask anybody there?");
  await told.seen((update) => update.type === "toolCall");
  await lonely.cancel();
  assert.equal((await told.result).outcome, "cancelled");
  await lonely.kill();
});

test("a new process resumes the session: it remembers, and money is not counted twice", async () => {
  await session.close();
  assert.equal((await session.exited).cause, "closed");
  const { sessionRef } = session;
  session = await bench.start({ sessionRef, processToken: randomUUID() });
  assert.deepEqual([session.resumed, session.sessionRef], [true, sessionRef]);
  const told = tell(session, "@usage 0 0 0 2", ++run);
  await told.result;
  assert.deepEqual(usageOf(told.updates), [2]);
  const last = told.updates.find((update) => update.type === "usage");
  assert.equal(last?.type === "usage" && last.costSoFar, 3.75);
  const plain = tell(session, "hello", ++run);
  await plain.seen(says("prompt "));
  assert.ok(Number(/prompt ([0-9]+) of/.exec(plain.text())?.[1]) > 25, plain.text());
  await plain.result;
});

test("a session that is not known any more: a new one is opened, and says so", async () => {
  const fresh = await bench.start({ uid: "agent-3", sessionRef: "00000000-0000-0000-0000-000000000000" });
  assert.equal(fresh.resumed, false);
  assert.notEqual(fresh.sessionRef, "00000000-0000-0000-0000-000000000000");
});
