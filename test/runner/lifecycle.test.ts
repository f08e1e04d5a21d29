import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readProcess } from "../../src/runner/processes/process-table.js";
import { carriers, isolationTest, openBench, prompt, says, tell, until } from "./fixture.js";

isolationTest(
  "interrupts are awaited, idle ones do nothing, and a kill leaves nothing",
  async (isolation) => {
    const bench = await openBench({ isolation });
    const session = await bench.start();
    const { token, pid, startTime } = session.process;
    assert.equal(readProcess(pid)?.startTime, startTime);

    // Idle: were it sent, a script would not care; so this only shows that it settles.
    await session.cancel();

    // Right behind the prompt: neither overtakes the other.
    const early = tell(session, "@sleep 1000s", 1);
    await session.cancel();
    assert.equal((await early.result).outcome, "cancelled");

    const sleeping = tell(session, "@say off\n@sleep 1000s\n@say never", 1);
    await sleeping.seen(says("off"));
    const before = performance.now();
    await Promise.all([session.cancel(), session.cancel()]);
    assert.ok(performance.now() - before < 2000);
    assert.equal((await sleeping.result).outcome, "cancelled");
    assert.equal(sleeping.text().includes("never"), false);

    const idle = (await carriers(token)).length;
    const running = tell(session, "@run sleep 1001 & setsid sleep 1002 & echo $$ > started; sleep 1003", 2);
    await until("the shell runs", () => existsSync(join(bench.spec().cwd, "started")));
    await until("all three sleep", async () => (await carriers(token)).length >= idle + 4);
    await session.cancel();
    assert.equal((await running.result).outcome, "cancelled");
    assert.equal(
      (await carriers(token)).length,
      idle,
      "the shell and what it started are gone, setsid or not",
    );

    // A cut script is over: the platform's next word does not bring it back.
    const next = prompt(session, [{ from: "platform", text: "go on" }], 2);
    await next.result;
    assert.match(next.text(), /There is no directive/);

    const killed = tell(session, "@run setsid sleep 1000", 3);
    await until("it runs", async () => (await carriers(token)).length > idle + 1);
    await assert.rejects(
      session.prompt({ runId: 3, parts: [{ from: "caller", text: "x" }] }, () => {}),
      /held already/,
    );
    await session.kill();
    assert.deepEqual(await carriers(token), []);
    const result = await killed.result;
    assert.deepEqual([result.outcome, result.error?.kind], ["failed", "agent_killed"]);
    assert.equal((await session.exited).cause, "killed");
    await session.kill();
    await session.close();
    await session.cancel();
    const late = await tell(session, "@say x").result;
    assert.deepEqual([late.outcome, late.error?.kind], ["failed", "agent_killed"]);
  },
);

isolationTest("@hang ignores a cancel and dies by kill", async (isolation) => {
  const bench = await openBench({ isolation });
  const session = await bench.start();
  const hanging = tell(session, "@say now\n@hang");
  await hanging.seen(says("now"));
  let ended = false;
  const cancelled = session.cancel().then(() => {
    ended = true;
  });
  // Long enough for an answer to have come: the others above took less.
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(ended, false);
  await session.kill();
  await cancelled;
  assert.equal((await hanging.result).error?.kind, "agent_killed");
  assert.deepEqual(await carriers(session.process.token), []);
});

test("@crash ends the process at once; the next attempt goes on after it", async () => {
  const bench = await openBench();
  const first = await bench.start();
  const script = "@say one\n@usage 5 0 0 1\n@crash\n@say two\n@crash\n@say three";
  const crashed = tell(first, script, 7);
  const result = await crashed.result;
  assert.equal(result.outcome, "failed");
  assert.deepEqual(
    [result.error?.kind, result.error?.retryable, result.error?.fatal],
    ["agent_exited", true, false],
  );
  assert.match(result.error?.message ?? "", /ended with code 70/);
  assert.equal(crashed.text(), "[script, no model]\none\n", "nothing that was said is lost");
  assert.equal((await first.exited).code, 70);

  const { sessionRef } = first;
  const second = await bench.start({ sessionRef, processToken: randomUUID() });
  const again = prompt(second, [{ from: "platform", text: "continue" }], 7);
  assert.equal((await again.result).outcome, "failed");
  assert.equal(again.text(), "[script, no model] going on at directive 4\ntwo\n");

  // Sent once more with the message itself: the same.
  const third = await bench.start({ sessionRef, processToken: randomUUID() });
  const last = tell(third, script, 7);
  const { outcome, usage } = await last.result;
  assert.equal(last.text(), "[script, no model] going on at directive 6\nthree\n");
  assert.deepEqual([outcome, usage?.inputTokens], ["completed", 5]);
});

test("a finished script that is sent again in its run does nothing twice but its last word", async () => {
  const bench = await openBench();
  const session = await bench.start();
  const again = async (text: string, runId: number) => {
    await tell(session, text, runId).result;
    const told = tell(session, text, runId);
    const { outcome } = await told.result;
    return [outcome, told.text()];
  };
  const done = "[script, no model] all directives were followed already\n";
  assert.deepEqual(await again("@say one\n@run echo two", 1), ["completed", done]);
  assert.deepEqual(await again("@say one\n@fail three", 2), [
    "failed",
    "[script, no model] going on at directive 2\n",
  ]);
  assert.deepEqual(await again("@crash-test\n@say one", 3), ["completed", done]);
  const other = tell(session, "@say one\n@run echo two", 4);
  await other.result;
  assert.equal(other.text(), "[script, no model]\none\ntwo\n", "a new run is a new script");
});

test("a script whose process was killed in a directive begins that directive again, in its own run only", async () => {
  const bench = await openBench();
  const first = await bench.start();
  const told = tell(first, "@say one\n@sleep 100s\n@say two", 1);
  await told.seen(says("one"));
  const memory = join(bench.spec().home, ".retinue-script", `${first.sessionRef}.json`);
  await until(
    "it has come to the second",
    () => JSON.parse(readFileSync(memory, "utf8")).script.position === 1,
  );
  await first.kill();
  const second = await bench.start({ sessionRef: first.sessionRef, processToken: randomUUID() });
  const news = prompt(second, [{ from: "platform", text: "news" }], 2);
  await news.result;
  assert.match(news.text(), /There is no directive/);
  const back = prompt(second, [{ from: "platform", text: "continue" }], 1);
  await back.seen(says("going on at directive 2"));
  await second.cancel();
  assert.equal((await back.result).outcome, "cancelled");
});

test("the end of input ends an idle process, and one in the middle of its work", async () => {
  const bench = await openBench({ isolation: "none" });
  const idle = await bench.start();
  await idle.close();
  assert.deepEqual([(await idle.exited).code, (await idle.exited).cause], [0, "closed"]);
  const busy = await bench.start({ uid: "agent-2" });
  const told = tell(busy, "@run sleep 1000");
  await told.seen((update) => update.type === "toolCall");
  const { token } = busy.process;
  await until("it sleeps", async () => (await carriers(token)).length >= 2);
  await busy.close();
  assert.equal((await told.result).error?.kind, "agent_closed");
  assert.equal((await busy.exited).code, 0);
  assert.deepEqual(await carriers(token), []);

  // Nobody cancelled it: the next process goes on with it.
  const again = await bench.start({
    uid: "agent-2",
    sessionRef: busy.sessionRef,
    processToken: randomUUID(),
  });
  const back = prompt(again, [{ from: "platform", text: "continue" }]);
  await back.seen(says("going on at directive 1"));
  await again.cancel();
  assert.equal((await back.result).outcome, "cancelled");
});

test("a start can be given up, and leaves nothing", async () => {
  const bench = await openBench();
  const controller = new AbortController();
  const spec = bench.spec({ signal: controller.signal });
  const started = bench.runner.start(spec);
  setTimeout(() => controller.abort(), 50);
  await assert.rejects(started, { name: "RunnerError", kind: "start_aborted" });
  assert.deepEqual(await carriers(spec.processToken), []);
  await assert.rejects(bench.runner.start(spec), { kind: "start_aborted" });
});
