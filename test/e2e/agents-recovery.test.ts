import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { agentProcesses } from "../support/agent-processes.js";
import { createAgentCaller, fateOf, saidIn, until } from "../support/agents.js";
import { type ServeProgram, startServe } from "../support/process.js";

const isRunning = (status: { turn?: { state: string } }) => status.turn?.state === "TURN_STATE_RUNNING";
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const callerOf = (server: ServeProgram) => createAgentCaller(server, server.adminKey);

/** Ends the program and starts it on the same folder. */
async function again(server: ServeProgram, signal: "SIGKILL" | "SIGTERM"): Promise<ServeProgram> {
  server.kill(signal);
  const exit = await server.exited;
  if (signal === "SIGTERM") assert.equal(exit.code, 0, server.stderr());
  return startServe({ dataDir: server.dataDir });
}

describe("kill -9 and a restart on the same folder", () => {
  test("a turn goes on where it was, as attempt 2 of the same run and session", async () => {
    const first = await startServe();
    await callerOf(first).spawn("goes-on", "@say before\n@sleep 3s\n@say after\n@complete done");
    await callerOf(first).until("goes-on", "at work", isRunning);
    const second = await again(first, "SIGKILL");
    const agents = callerOf(second);
    const { reason, status } = await agents.wait("goes-on");
    assert.equal(reason, "WAIT_REASON_COMPLETED", JSON.stringify(status));
    assert.equal(status.result, "done");
    assert.equal(status.runCount, "1");
    const events = await agents.timeline("goes-on");
    const lost = events.filter(({ type }) => type === "EVENT_TYPE_RUNNER_LOST");
    assert.equal(lost.length, 1, JSON.stringify(lost));
    const ended = events.find(({ type }) => type === "EVENT_TYPE_TURN_ENDED");
    assert.deepEqual([ended.runId, ended.attempt], ["1", 2]);
    assert.equal(saidIn(events).match(/after/g)?.length, 1);
    await until(
      "no process is left",
      () => agentProcesses(second.dataDir),
      (pids) => pids.length === 0,
    );
  });

  test("a parent that waits for its child goes on waiting, for the same child, and nothing is billed twice", async () => {
    const first = await startServe();
    await callerOf(first).spawn(
      "waits",
      "@usage 1 1 1 0.5\n@spawn kid | @usage 1 1 1 0.25 | @sleep 3s | @complete grown\n@await kid\n@complete both",
    );
    await callerOf(first).until("waits", "billed", ({ subtreeCost }) => subtreeCost === 0.75);
    const second = await again(first, "SIGKILL");
    const agents = callerOf(second);
    const { status } = await agents.wait("waits");
    assert.deepEqual([status.result, status.runCount], ["both", "1"]);
    const events = await agents.timeline("waits");
    assert.equal(events.filter(({ type }) => type === "EVENT_TYPE_CHILD_SPAWNED").length, 1);
    assert.match(saidIn(events), /kid is COMPLETED: grown/);
    const { total } = await agents.get("usage", "waits", { includeDescendants: true });
    assert.deepEqual([total.cost, status.subtreeCost], [0.75, 0.75]);
  });

  test("what was queued, deferred or being stopped is taken up again", async () => {
    const first = await startServe();
    const before = callerOf(first);
    await before.spawn("queued", "@sleep 2s");
    await before.spawn("deferred", "hello");
    await before.spawn("doomed", "@spawn kid | @sleep 60s\n@sleep 60s");
    await before.wait("deferred");
    await before.until("queued", "at work", isRunning);
    await before.until("doomed/kid", "at work", isRunning);
    const queued = await before.queue("queued", "@complete from the queue");
    const deferred = await before.queue("deferred", "@complete in time", { deliverAt: inMs(1500) });
    // Not awaited: the server dies somewhere in the middle of it.
    const killing = before.ask("kill", "doomed").catch(() => undefined);
    await before.until(
      "doomed",
      "killed",
      ({ phase }) => phase !== "PHASE_RUNNING" && phase !== "PHASE_PENDING",
    );
    const second = await again(first, "SIGKILL");
    await killing;
    const agents = callerOf(second);
    assert.equal((await agents.wait("queued")).status.result, "from the queue");
    assert.deepEqual(fateOf(await agents.timeline("queued"), queued.followUpId), ["QUEUED", "DELIVERED"]);
    assert.equal((await agents.wait("deferred")).status.result, "in time");
    const fate = fateOf(await agents.timeline("deferred"), deferred.followUpId);
    assert.deepEqual(fate, ["DEFERRED", "QUEUED", "DELIVERED"]);
    for (const path of ["doomed", "doomed/kid"]) {
      assert.equal((await agents.wait(path)).reason, "WAIT_REASON_CANCELED", path);
    }
    await until(
      "no process is left",
      () => agentProcesses(second.dataDir),
      (pids) => pids.length === 0,
    );
  });

  test("turns that go on hold their slots: no more than eight run at once after a restart either", async () => {
    const first = await startServe();
    const paths = Array.from({ length: 10 }, (_, i) => `slot-${i}`);
    await Promise.all(paths.map((path) => callerOf(first).spawn(path, "@sleep 60s")));
    const held = async (server: ServeProgram) => {
      const seen = await Promise.all(paths.map((path) => callerOf(server).status(path)));
      return seen.filter(({ turn }) => turn !== undefined).length;
    };
    await until(
      "the slots are taken",
      () => held(first),
      (count) => count === 8,
    );
    const second = await again(first, "SIGKILL");
    for (const path of paths.slice(0, 8)) await callerOf(second).until(path, "at work", isRunning);
    assert.equal(await held(second), 8);
    await Promise.all(paths.map((path) => callerOf(second).get("kill", path)));
    await Promise.all(paths.map((path) => callerOf(second).wait(path)));
  });
});

describe("SIGTERM", () => {
  test("suspends the running turn, leaves no process, and the turn goes on at the next start", async () => {
    const first = await startServe();
    await callerOf(first).spawn("suspended", "@say before\n@sleep 3s\n@say after\n@complete done");
    await callerOf(first).until("suspended", "at work", isRunning);
    first.kill("SIGTERM");
    assert.equal((await first.exited).code, 0, first.stderr());
    assert.deepEqual(await agentProcesses(first.dataDir), []);
    assert.doesNotMatch(first.stderr(), /store is closed/);
    const second = await startServe({ dataDir: first.dataDir });
    const { reason, status } = await callerOf(second).wait("suspended");
    assert.equal(reason, "WAIT_REASON_COMPLETED", JSON.stringify(status));
    assert.equal(status.runCount, "1");
    const events = await callerOf(second).timeline("suspended");
    assert.equal(events.find(({ type }) => type === "EVENT_TYPE_TURN_ENDED").attempt, 2);
  });
});

describe("what an agent sees", () => {
  test("the data folder is not among it, nor the server's environment", async (t) => {
    const server = await startServe({ env: { SECRET_OF_THE_SERVER: "sesame" } });
    const agents = callerOf(server);
    const file = join(server.dataDir, "admin.key");
    await agents.spawn(
      "spy",
      `@run cat ${file}\n@run ls ${server.dataDir}\n@run env\n@run echo here > mine && cat mine`,
    );
    const { status } = await agents.wait("spy");
    const log = JSON.stringify(await agents.timeline("spy"));
    assert.doesNotMatch(log, /sesame/);
    assert.match(log, /here/, "its own folder is its own");
    if (status.runtime.isolation !== "bwrap") return t.skip("bubblewrap does not work here");
    assert.ok(!log.includes(server.adminKey), "it has read the key");
    assert.doesNotMatch(log, /master\.key|retinue\.db|\.sqlite/);
  });
});
