import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { systemClock } from "../../src/engine/clock.js";
import { createAgentCaller, until } from "../support/agents.js";
import { encode, rest, startServer, type TestServer } from "../support/server.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Half past nine on a Monday. */
const START = Date.parse("2026-03-02T09:30:00Z");

/** A clock that moves only when it is told to; what is scheduled is looked at on every start. */
const time = { nowMs: START };
const clock = { ...systemClock, nowMs: () => time.nowMs };
let server: TestServer;
before(async () => {
  server = await startServer({}, clock);
});

const put = (name: string, document: object) =>
  rest(server, server.adminKey, "POST", `/v1/catalog/schedule/${name}`, { payload: encode(document) });
const statusOf = async (name: string) =>
  (await rest(server, server.adminKey, "GET", `/v1/schedules/${name}`)).body;

async function made(name: string, document: object): Promise<void> {
  const answer = await put(name, { cron: "0 * * * *", ...document });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
}

/** Time passes while the server is down, or so it seems: the clock is another when it is up again. */
async function at(nowMs: number): Promise<void> {
  await server.close();
  time.nowMs = nowMs;
  server = await server.restart();
}

/** Agents that a schedule has started so far, by name. */
async function started(name: string): Promise<string[]> {
  const { body } = await rest(server, server.adminKey, "POST", "/v1/agents", { includeTerminal: true });
  const names = (body.entries as { agentId: { agent: string[] } }[]).map(
    ({ agentId }) => agentId.agent[0] ?? "",
  );
  return names.filter((found) => found.startsWith(`${name}-2026`)).sort();
}

const dealtWith = (name: string, lastDueAt: string) =>
  until(
    `${name} has dealt with ${lastDueAt}`,
    () => statusOf(name),
    (status) => status.lastDueAt === lastDueAt,
  );

describe("schedules", { timeout: 180_000 }, () => {
  test("spawn, make up for what was missed as told, and do nothing twice, whatever the clock does", async () => {
    const spawn = { description: "@complete done", labels: { from: "schedule" } };
    await made("once", { spawn });
    await made("skip", { spawn, missedRunPolicy: "MISSED_RUN_POLICY_SKIP" });
    await made("all", {
      spawn,
      missedRunPolicy: "MISSED_RUN_POLICY_ALL",
      overlapPolicy: "OVERLAP_POLICY_ALLOW",
    });
    await made("paused", { spawn, paused: true });
    assert.equal((await statusOf("once")).nextDueAt, "2026-03-02T10:00:00Z");
    assert.equal((await statusOf("paused")).nextDueAt, undefined);

    await at(START + 30 * MINUTE);
    for (const name of ["once", "skip", "all"]) {
      await dealtWith(name, "2026-03-02T10:00:00Z");
      assert.deepEqual(await started(name), [`${name}-20260302t1000z`]);
    }
    const agents = createAgentCaller(server, server.adminKey);
    for (const name of ["skip", "all"]) await agents.wait(`${name}-20260302t1000z`);
    const { status } = await agents.wait("once-20260302t1000z");
    assert.deepEqual([status.result, status.labels.from], ["done", "schedule"]);

    // Three hours ahead, between two times; then back by one; then on.
    await at(START + 3 * HOUR);
    for (const name of ["once", "skip", "all"]) await dealtWith(name, "2026-03-02T12:00:00Z");
    const missed = {
      once: ["once-20260302t1000z", "once-20260302t1200z"],
      skip: ["skip-20260302t1000z"],
      all: ["all-20260302t1000z", "all-20260302t1100z", "all-20260302t1200z"],
    };
    for (const [name, expected] of Object.entries(missed)) assert.deepEqual(await started(name), expected);
    await at(START + 2 * HOUR);
    await at(START + 2 * HOUR + 31 * MINUTE);
    for (const [name, expected] of Object.entries(missed)) assert.deepEqual(await started(name), expected);
    await at(START + 3 * HOUR + 30 * MINUTE);
    await dealtWith("skip", "2026-03-02T13:00:00Z");
    assert.deepEqual(await started("skip"), ["skip-20260302t1000z", "skip-20260302t1300z"]);
    assert.deepEqual(await started("paused"), []);
  });

  test("send messages, and wait or leave out while the last is not over", async () => {
    const nowMs = START + 24 * HOUR;
    await at(nowMs);
    const agents = createAgentCaller(server, server.adminKey);
    await agents.spawn("worker", "@ask ready");
    await agents.wait("worker");
    const message = { agentId: { agent: ["worker"] }, description: "@sleep 60s" };
    await made("leave-out", { message });
    await made("queue", { message, overlapPolicy: "OVERLAP_POLICY_QUEUE" });
    await at(nowMs + 30 * MINUTE);
    await dealtWith("leave-out", "2026-03-03T10:00:00Z");
    await dealtWith("queue", "2026-03-03T10:00:00Z");
    await at(nowMs + 90 * MINUTE);
    await dealtWith("leave-out", "2026-03-03T11:00:00Z");
    const sent = async () => {
      const events = await createAgentCaller(server, server.adminKey).timeline("worker");
      return events.filter(({ type }) => type === "EVENT_TYPE_FOLLOW_UP_QUEUED").length;
    };
    assert.equal(await sent(), 2);
    assert.equal((await statusOf("queue")).lastDueAt, "2026-03-03T10:00:00Z");
    await createAgentCaller(server, server.adminKey).get("kill", "worker");
    await dealtWith("queue", "2026-03-03T11:00:00Z");
    assert.match((await statusOf("queue")).lastError, /worker/);
  });

  test("tell why nothing came of a time", async () => {
    const nowMs = START + 48 * HOUR;
    await at(nowMs);
    await made("lost", { message: { agentId: { agent: ["nobody"] }, description: "hello" } });
    await at(nowMs + 30 * MINUTE);
    const status = await dealtWith("lost", "2026-03-04T10:00:00Z");
    assert.match(status.lastError, /nobody/);
    assert.equal((await rest(server, server.adminKey, "GET", "/v1/schedules/unknown")).status, 404);
  });
});
