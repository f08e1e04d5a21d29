import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionSpec, Update } from "../../src/runner/runner.js";
import { scriptedProgram } from "../../src/runner/scripted/program.js";
import { bwrapTest, carriers, fakeAgent, NO_SETTINGS, openBench, says, tell } from "./fixture.js";

const bench = await openBench({ isolation: "none" });
let agents = 0;

/** Each in folders of its own. */
function start(mode: string, change: Partial<SessionSpec> = {}) {
  agents += 1;
  return bench.start({ uid: `agent-${agents}`, program: fakeAgent(mode), ...change });
}

async function turn(mode: string, change: Partial<SessionSpec> = {}) {
  const session = await start(mode, change);
  const told = tell(session, "go");
  const result = await told.result;
  return { ...told, session, result };
}

const STARTS: readonly (readonly [mode: string, kind: string, fatal: boolean, message: RegExp])[] = [
  [
    "exits",
    "agent_exited",
    false,
    /^the agent program ended with code 3; its last words: no licence found for \*\*\*$/,
  ],
  ["banner-exits", "agent_exited", false, /ended with code 1; its last words: Error: not logged in$/],
  [
    "deaf",
    "start_timeout",
    false,
    /did not open a session within 0.7 s: .*last words: waiting for a login with \*\*\*/,
  ],
  ["old", "agent_protocol", true, /speaks version 0 of ACP, not 1/],
  ["auth", "backend_auth", true, /Authentication required/],
  ["nameless", "agent_protocol", false, /without an id/],
];

for (const [mode, kind, fatal, message] of STARTS) {
  test(`a start that fails, ${mode}: ${kind}, and nothing is left`, async () => {
    const limits = mode === "deaf" ? { startMs: 700 } : {};
    const spec = bench.spec({ program: fakeAgent(mode), limits });
    await assert.rejects(bench.runner.start(spec), (error: Error & { kind: string; fatal: boolean }) => {
      assert.deepEqual([error.name, error.kind, error.fatal], ["RunnerError", kind, fatal]);
      assert.match(error.message, message);
      return true;
    });
    assert.deepEqual(await carriers(spec.processToken), []);
  });
}

bwrapTest("under bwrap too, an agent that exits at once is told with its last words", async () => {
  const isolated = await openBench();
  await assert.rejects(isolated.runner.start(isolated.spec({ program: fakeAgent("exits") })), {
    kind: "agent_exited",
    message: "the agent program ended with code 3; its last words: no licence found for ***",
  });
});

test("a program that is not there: what to do is said", async () => {
  for (const command of ["no-such-agent", "/opt/no-such-agent"]) {
    const program = { ...scriptedProgram(), command, args: [] };
    await assert.rejects(bench.runner.start(bench.spec({ program })), {
      kind: "agent_not_installed",
      fatal: true,
      message: new RegExp(`"${command}" was not found.*: install it, or name it`),
    });
  }
});

test("garbage on the output is passed over", async () => {
  const { result, updates, text } = await turn("garbage");
  assert.equal(result.outcome, "completed");
  assert.equal(text(), "still here");
  assert.deepEqual(
    updates.map(({ type }) => type),
    ["plan", "text"],
  );
});

const FLOODS: readonly (readonly [mode: string, message: RegExp])[] = [
  ["long-line", /it wrote a line of more than 1000000 bytes/],
  ["junk-flood", /it wrote more than 500000 bytes that are no messages; its last words: .*spinning/s],
  ["stderr-flood", /it wrote more than 3000000 bytes in one turn; its last words: .*debug/s],
  ["update-flood", /it wrote more than 3000000 bytes in one turn/],
];

for (const [mode, message] of FLOODS) {
  test(`too much output ends the process, ${mode}`, async () => {
    const limits = { lineBytes: 1_000_000, junkBytes: 500_000, outputBytes: 3_000_000 };
    const { result, session } = await turn(mode, { limits });
    assert.deepEqual(
      [result.outcome, result.error?.kind, result.error?.retryable],
      ["failed", "output_limit", true],
    );
    assert.match(result.error?.message ?? "", message);
    assert.equal((await session.exited).cause, "output_limit");
    assert.deepEqual(await carriers(session.process.token), []);
  });
}

test("a program that closes its output is of no more use, and is ended", async () => {
  const { result, text, session } = await turn("closes");
  assert.equal(text(), "last");
  assert.equal(result.error?.kind, "agent_exited");
  assert.match(result.error?.message ?? "", /closed its output/);
  assert.deepEqual(await carriers(session.process.token), []);
});

test("a process that dies beneath a prompt, whatever it had read of it: the turn fails, and nothing else does", async () => {
  for (const length of [10, 3_000_000]) {
    const session = await start("counts");
    process.kill(session.process.pid, "SIGKILL");
    // Its end has not been noticed yet: this is written into a pipe that breaks.
    const told = tell(session, "x".repeat(length));
    await session.cancel();
    const { outcome, error } = await told.result;
    assert.deepEqual([outcome, error?.kind], ["failed", "agent_exited"]);
    assert.match(error?.message ?? "", /ended by SIGKILL/);
  }
});

const ENDS: readonly (readonly [
  mode: string,
  outcome: string,
  kind: string | undefined,
  retryable?: boolean,
])[] = [
  ["cancels-once", "completed", undefined],
  ["cancels-always", "failed", "agent_cancelled", true],
  ["failure", "failed", "backend_unavailable", true],
  ["overloaded", "failed", "backend_unavailable", true],
  ["refuses", "refused", "refused", false],
  ["too-long", "limit", "length_limit", false],
  ["invents", "failed", "agent_protocol", true],
  ["null-usage", "completed", undefined],
];

for (const [mode, outcome, kind, retryable] of ENDS) {
  test(`an end, ${mode}: ${outcome} ${kind ?? ""}`, async () => {
    const { result } = await turn(mode);
    assert.deepEqual(
      [result.outcome, result.error?.kind, result.error?.retryable],
      [outcome, kind, retryable],
    );
  });
}

test("an end without usage is a failure where the program is known for it", async () => {
  const program = { ...fakeAgent("null-usage"), emptyUsageIsFailure: true };
  const { result } = await turn("", { program });
  assert.deepEqual([result.outcome, result.error?.kind], ["failed", "backend_unavailable"]);
});

test("permission: own tools are allowed once, all else is rejected, by kind of option", async () => {
  const { text, updates } = await turn("asks");
  assert.equal(text(), "own=yes shell=no posing=no");
  const decided = updates.flatMap((update) => (update.type === "permission" ? [update.decision] : []));
  assert.deepEqual(decided, ["allow", "reject", "reject"]);
  const own = await turn("asks", { permit: ({ kind }) => (kind === "execute" ? "allow" : "reject") });
  assert.equal(own.text(), "own=no shell=yes posing=yes");
});

test("a cancel is never sent to an idle program, and once to a busy one", async () => {
  const session = await start("counts");
  await session.cancel();
  const first = tell(session, "one");
  await first.result;
  await session.cancel();
  const second = tell(session, "two");
  await second.seen(says("cancels"));
  assert.equal(second.text(), "0 cancels");
  await Promise.all([session.cancel(), session.cancel()]);
  assert.equal((await second.result).outcome, "cancelled");
  await session.cancel();
  const third = tell(session, "three");
  await third.result;
  assert.equal(third.text(), "1 cancels");
});

test("a cancel that is answered with an error is a cancelled turn", async () => {
  const session = await start("errors-on-cancel");
  const told = tell(session, "go");
  await told.seen(says("off"));
  await session.cancel();
  assert.deepEqual(await told.result, { outcome: "cancelled" });
});

test("a listener that throws does not harm the session: the turn's promise rejects at its end", async () => {
  const session = await start("tools");
  const prompt = { runId: 1, parts: [{ from: "caller", text: "go" }] } as const;
  const throwing = session.prompt(prompt, () => {
    throw new Error("a bug of ours");
  });
  await assert.rejects(throwing, /a bug of ours/);
  assert.equal((await session.prompt(prompt, () => {})).outcome, "completed");
});

test("tool calls are told once, with their input, and their results once", async () => {
  const { updates } = await turn("tools");
  const expected: Update[] = [
    { type: "toolCall", id: "t", title: "`ls`", kind: "execute", input: { command: "ls" } },
    { type: "toolResult", id: "t", failed: false, output: "a\nb" },
    { type: "thought", text: "hm" },
    { type: "plan", entries: [{ content: "c", status: "pending", priority: "low" }] },
  ];
  assert.deepEqual(updates, expected);
});

test("usage: never negative, and nothing lost that comes between turns", async () => {
  const { result, updates, session } = await turn("spends");
  const next = tell(session, "go");
  const last = await next.result;
  // Totals of 0.25, 0.15, 0.25 and 0.5, 0.4, 0.5: what goes down adds nothing. The sixth may come too late.
  const told = [...updates, ...next.updates].flatMap((update) =>
    update.type === "usage" ? [update.usage.cost] : [],
  );
  const costs = [...told, result.usage?.cost ?? 0, last.usage?.cost ?? 0];
  assert.ok(costs.every((cost) => cost >= 0));
  const sum = costs.reduce((total, cost) => total + cost, 0);
  assert.ok(Math.abs(sum - 0.6) < 1e-9 || Math.abs(sum - 0.7) < 1e-9, `${sum}`);
  const tokens = { inputTokens: 5, cachedInputTokens: 3, outputTokens: 7 };
  assert.deepEqual({ ...last.usage, cost: 0 }, { ...tokens, cost: 0 });
});

test("a session is loaded where it cannot be resumed, and its history is not told again", async () => {
  for (const mode of ["loads", "resume-refused"]) {
    const session = await start(mode, { sessionRef: "s" });
    assert.deepEqual([session.resumed, session.sessionRef, session.build], [true, "s", `${mode} 0`]);
  }
});

test("settings that a program does not offer are named, not forced on it", async () => {
  const session = await start("counts");
  const settings = { model: "m", reasoningEffort: "high", serviceTier: "", fastMode: true };
  assert.deepEqual(await session.apply(settings), ["model", "reasoningEffort", "fastMode"]);
  assert.deepEqual(await session.apply(NO_SETTINGS), []);
});

test("close: the end of input, then TERM, then kill", async () => {
  const limits = { closeMs: 200, termMs: 200 };
  const polite = await start("polite", { limits });
  await polite.close();
  assert.deepEqual([(await polite.exited).code, (await polite.exited).cause], [9, "closed"]);
  const stubborn = await start("stubborn", { limits });
  await stubborn.close();
  assert.deepEqual([(await stubborn.exited).signal, (await stubborn.exited).cause], ["SIGKILL", "closed"]);
});

bwrapTest("close asks politely under bwrap too", async () => {
  const isolated = await openBench();
  const limits = { closeMs: 200, termMs: 2000 };
  const polite = await isolated.start({ program: fakeAgent("polite"), limits });
  await polite.close();
  assert.equal((await polite.exited).code, 9);
});
