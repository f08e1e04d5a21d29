import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { agentProcesses } from "../support/agent-processes.js";
import {
  type AgentCaller,
  assertFault,
  createAgentCaller,
  fateOf,
  saidIn,
  typesOf,
  until,
} from "../support/agents.js";
import { encode, mintKey, rest, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let agents: AgentCaller;
before(async () => {
  server = await startServer();
  agents = createAgentCaller(server, server.adminKey);
});

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const isPhase = (phase: string) => (status: { phase: string }) => status.phase === `PHASE_${phase}`;
const isRunning = (status: { turn?: { state: string } }) => status.turn?.state === "TURN_STATE_RUNNING";
const homeOf = ({ uid }: { uid: string }) => join(server.dataDir, "agents", uid);
const DAY_MS = 24 * 60 * 60 * 1000;

describe("spawning", () => {
  test("asked, answered, completed: the flow of the README", async () => {
    const spawned = await agents.spawn("readme", "@say looking\n@ask which colour?");
    assert.equal(spawned.phase, "PHASE_PENDING");
    assert.equal(spawned.created, true);
    assert.equal(spawned.runCount, "0");
    assert.equal(spawned.agentId.workspace, "default");
    const asks = await agents.wait("readme");
    assert.equal(asks.reason, "WAIT_REASON_NEEDS_INPUT");
    assert.equal(asks.status.needsInput, "which colour?");
    const { followUpId } = await agents.queue("readme", "@complete blue it is");
    const done = await agents.wait("readme");
    assert.equal(done.reason, "WAIT_REASON_COMPLETED");
    assert.equal(done.status.result, "blue it is");
    assert.equal(done.status.needsInput, "");
    const events = await agents.timeline("readme");
    assert.deepEqual(fateOf(events, followUpId), ["QUEUED", "DELIVERED"]);
    assert.match(saidIn(events), /looking/);
    assert.equal(events.at(-1).payload.phase.to, "PHASE_COMPLETED", "the terminal phase is the last event");
    assert.equal(String(events.length), done.status.lastSeq);
  });

  test("a plain end rests under REST and completes under IDLE_POLICY_COMPLETE", async () => {
    await agents.spawn("rests", "hello");
    assert.equal((await agents.wait("rests")).status.phase, "PHASE_WAITING_FOR_INPUT");
    await agents.spawn("ends", "hello", { idlePolicy: "IDLE_POLICY_COMPLETE" });
    assert.equal((await agents.wait("ends")).reason, "WAIT_REASON_COMPLETED");
  });

  test("the same requestId gives the first answer; with another request it is ALREADY_EXISTS", async () => {
    const first = await agents.spawn("again", "@ask more?", { requestId: "r-1" });
    const second = await agents.spawn("again", "@ask more?", { requestId: "r-1" });
    assert.equal(second.created, false);
    assert.equal(second.agentId.uid, first.agentId.uid);
    const other = await agents.ask("spawn", "again", { description: "other", requestId: "r-1" });
    assert.equal(other.status, 409);
    assert.equal(other.body.code, 6);
  });

  test("parallel repeats of one request make one agent", async () => {
    const made = await Promise.all(
      Array.from({ length: 10 }, () => agents.spawn("once", "@ask what?", { requestId: "r-2" })),
    );
    assert.equal(new Set(made.map(({ agentId }) => agentId.uid)).size, 1);
    assert.equal(made.filter(({ created }) => created).length, 1);
  });

  test("a live agent's path is taken; after its end a new incarnation begins and the old one stays readable", async () => {
    const first = await agents.spawn("path", "@ask what?");
    const taken = await agents.ask("spawn", "path", { description: "x" });
    assert.equal(taken.status, 409);
    await agents.get("kill", "path");
    await agents.wait("path");
    const second = await agents.spawn("path", "@complete second");
    assert.notEqual(second.agentId.uid, first.agentId.uid);
    await agents.wait("path");
    const old = { agentId: { agent: ["path"], uid: first.agentId.uid } };
    assert.equal((await agents.get("status", "path", old)).phase, "PHASE_CANCELED");
    assert.equal((await agents.status("path")).phase, "PHASE_COMPLETED");
    assert.equal(
      (await agents.timeline("path", first.agentId.uid)).at(-1).payload.phase.to,
      "PHASE_CANCELED",
    );
    const change = await agents.ask("kill", "path", old);
    assertFault(change, 404, "AGENT_NOT_FOUND");
  });

  test("what it names must exist: workspace, persona, environment, model, parent", async () => {
    const spawn = (more: object) => agents.ask("spawn", "nowhere", { description: "x", ...more });
    const agentId = { agent: ["nowhere"], workspace: "atlantis" };
    assertFault(await spawn({ agentId }), 404, "WORKSPACE_NOT_FOUND", /atlantis/);
    assertFault(await spawn({ agent: "nobody" }), 404, "PERSONA_NOT_FOUND", /nobody/);
    assertFault(await spawn({ environment: "void" }), 404, "ENVIRONMENT_NOT_FOUND", /void/);
    const unknown = await spawn({ model: "abacus" });
    assert.equal(unknown.status, 400);
    assert.equal(unknown.body.code, 3);
    const missing = await spawn({ model: "claude-x" });
    assert.equal(missing.body.code, 9, JSON.stringify(missing.body));
    const orphan = await agents.ask("spawn", "nobody/child", { description: "x" });
    assert.equal(orphan.status, 404);
    assert.equal((await agents.ask("status", "nowhere")).status, 404, "a refused spawn leaves nothing");
  });

  test("a root without a path gets a name; a bad path element is refused", async () => {
    const { body } = await rest(server, server.adminKey, "POST", "/v1/agent/spawn", {
      description: "@ask what?",
    });
    assert.equal(body.agentId.agent.length, 1);
    assert.match(body.agentId.agent[0], /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/);
    for (const bad of ["Big", "a..b", "-a", "", "a".repeat(64)]) {
      const answer = await agents.ask("spawn", bad, { description: "x" });
      assert.equal(answer.status, 400, bad);
      assert.equal(answer.body.code, 3);
    }
  });

  test("startAt holds the first run back, and pendingReason says until when", async () => {
    const startAt = inMs(1500);
    await agents.spawn("later", "@complete", { startAt });
    const status = await agents.status("later");
    assert.equal(status.phase, "PHASE_PENDING");
    assert.match(status.pendingReason, /starts at/);
    const done = await agents.wait("later");
    assert.ok(done.status.startedAt >= startAt, `${done.status.startedAt} is before ${startAt}`);
  });
});

describe("the queue", () => {
  test("an agent at work queues: state, position and the seq of its event", async () => {
    await agents.spawn("busy", "@sleep 60s");
    await agents.until("busy", "at work", isRunning);
    const first = await agents.queue("busy", "@say one");
    const second = await agents.queue("busy", "@say two");
    assert.deepEqual([first.state, first.position], ["FOLLOW_UP_STATE_QUEUED", 1]);
    assert.deepEqual([second.state, second.position], ["FOLLOW_UP_STATE_QUEUED", 2]);
    const events = await agents.timeline("busy");
    assert.equal(events[Number(second.seq) - 1].payload.followUp.followUp.followUpId, second.followUpId);
    const { followUps } = await agents.status("busy");
    assert.deepEqual(
      followUps.map((f: { description: string; position: number }) => [f.description, f.position]),
      [
        ["@say one", 1],
        ["@say two", 2],
      ],
    );
    await agents.get("stop-turn", "busy", { runId: 1 });
    await agents.wait("busy", { followUpId: second.followUpId });
    const after = await agents.timeline("busy");
    const delivered = after.filter(({ type }) => type === "EVENT_TYPE_FOLLOW_UP_DELIVERED");
    assert.deepEqual(
      delivered.map(({ runId, payload }) => [runId, payload.followUp.followUp.followUpId]),
      [
        ["2", first.followUpId],
        ["3", second.followUpId],
      ],
      "first in, first out, one a turn",
    );
  });

  test("a followUpId is taken once: repeated 200 and nothing added, with other content ALREADY_EXISTS", async () => {
    await agents.spawn("ids", "@sleep 60s");
    await agents.until("ids", "at work", isRunning);
    const one = await agents.queue("ids", "@say one", { followUpId: "mine" });
    assert.equal(one.followUpId, "mine");
    const again = await agents.queue("ids", "@say one", { followUpId: "mine" });
    assert.deepEqual([again.followUpId, again.seq, again.position], ["mine", one.seq, 1]);
    assert.equal((await agents.status("ids")).followUps.length, 1);
    const other = await agents.ask("queue", "ids", { description: "@say other", followUpId: "mine" });
    assertFault(other, 409, "FOLLOW_UP_ID_TAKEN");
    assert.equal((await agents.get("queue/remove", "ids", { followUpId: "mine" })).removed, true);
    assert.equal((await agents.get("queue/remove", "ids", { followUpId: "mine" })).removed, false);
    const armed = await agents.queue("ids", "@say other", { followUpId: "mine" });
    assert.equal(armed.state, "FOLLOW_UP_STATE_QUEUED", "free again after the removal");
    assert.deepEqual(fateOf(await agents.timeline("ids"), "mine"), ["QUEUED", "REMOVED", "QUEUED"]);
    await agents.get("kill", "ids");
  });

  test("preempt clears the queue, interrupts the turn and runs next", async () => {
    await agents.spawn("preempt", "@sleep 60s\n@say never");
    await agents.until("preempt", "at work", isRunning);
    const old = await agents.queue("preempt", "@say old");
    const deferred = await agents.queue("preempt", "@say deferred", { deliverAt: inMs(DAY_MS) });
    const now = await agents.queue("preempt", "@say now", { preempt: true, followUpId: "now" });
    assert.deepEqual(now.clearedIds, [old.followUpId]);
    assert.equal(now.interruptedRunId, "1");
    const repeated = await agents.queue("preempt", "@say now", { preempt: true, followUpId: "now" });
    assert.deepEqual([repeated.clearedIds, repeated.interruptedRunId], [[], "0"], "not preempted again");
    await agents.wait("preempt", { followUpId: "now" });
    const events = await agents.timeline("preempt");
    assert.deepEqual(fateOf(events, old.followUpId), ["QUEUED", "CLEARED"]);
    assert.deepEqual(
      fateOf(events, deferred.followUpId),
      ["DEFERRED"],
      "deferred messages survive a preempt",
    );
    assert.doesNotMatch(saidIn(events), /never/);
    const ended = events.find(({ type, runId }) => type === "EVENT_TYPE_TURN_ENDED" && runId === "1");
    assert.equal(ended.payload.turnEnded.outcome, "TURN_OUTCOME_INTERRUPTED");
    await agents.get("kill", "preempt");
  });

  test("deliverAt must lie ahead, at most 30 days, and goes without preempt", async () => {
    await agents.spawn("defer", "@ask what?");
    const refused = (more: object) => agents.ask("queue", "defer", { description: "x", ...more });
    assertFault(await refused({ deliverAt: inMs(-1000) }), 400, "DELIVER_AT_NOT_FUTURE");
    assertFault(await refused({ deliverAt: inMs(30 * DAY_MS + 60_000) }), 400, "DELIVER_AT_TOO_FAR");
    assertFault(await refused({ deliverAt: inMs(60_000), preempt: true }), 400, "DELIVER_AT_WITH_PREEMPT");
  });

  test("a deferred message holds an agent SLEEPING and wakes it when it is due", async () => {
    await agents.spawn("sleeper", "hello");
    await agents.wait("sleeper");
    const due = inMs(2000);
    const { followUpId, state } = await agents.queue("sleeper", "@complete awake", { deliverAt: due });
    assert.equal(state, "FOLLOW_UP_STATE_DEFERRED");
    const asleep = await agents.status("sleeper");
    assert.equal(asleep.phase, "PHASE_SLEEPING");
    assert.equal(asleep.nextWakeAt, due);
    const done = await agents.wait("sleeper");
    assert.equal(done.status.result, "awake");
    const events = await agents.timeline("sleeper");
    assert.deepEqual(fateOf(events, followUpId), ["DEFERRED", "QUEUED", "DELIVERED"]);
    const delivered = events.find(({ type }) => type === "EVENT_TYPE_FOLLOW_UP_DELIVERED");
    assert.ok(delivered.time >= due, `${delivered.time} is before ${due}`);
  });

  test("a deferred message can be removed before its time", async () => {
    await agents.spawn("disarm", "@ask what?");
    await agents.wait("disarm");
    const { followUpId } = await agents.queue("disarm", "@complete", { deliverAt: inMs(DAY_MS) });
    assert.equal((await agents.get("queue/remove", "disarm", { followUpId })).removed, true);
    assert.deepEqual((await agents.status("disarm")).followUps, []);
  });

  test("clear counts what was queued and leaves what is deferred", async () => {
    await agents.spawn("clear", "@sleep 60s");
    await agents.until("clear", "at work", isRunning);
    for (const text of ["a", "b", "c"]) await agents.queue("clear", text);
    await agents.queue("clear", "d", { deliverAt: inMs(DAY_MS) });
    assert.deepEqual(await agents.get("clear-follow-ups", "clear"), { cleared: 3 });
    assert.deepEqual(await agents.get("clear-follow-ups", "clear"), { cleared: 0 });
    assert.equal((await agents.status("clear")).followUps.length, 1);
    await agents.get("kill", "clear");
  });

  test("agents that have ended or never were: NOT_FOUND with the reason; remove and clear find nothing", async () => {
    await agents.spawn("over", "@complete");
    await agents.wait("over");
    assertFault(await agents.ask("queue", "over", { description: "x" }), 404, "AGENT_TERMINAL");
    assert.deepEqual(await agents.get("queue/remove", "over", { followUpId: "x" }), { removed: false });
    assert.deepEqual(await agents.get("clear-follow-ups", "over"), { cleared: 0 });
    assert.deepEqual(await agents.get("kill", "over"), {}, "kill of what has ended is done already");
    assertFault(
      await agents.ask("tasks/create", "over", { tasks: [{ subject: "x" }] }),
      404,
      "AGENT_TERMINAL",
    );
    const operations: [string, object][] = [
      ["status", {}],
      ["wait", {}],
      ["queue", { description: "x" }],
      ["queue/remove", { followUpId: "x" }],
      ["clear-follow-ups", {}],
      ["stop-turn", { runId: 1 }],
      ["kill", {}],
      ["update", {}],
      ["timeline", {}],
      ["watch", {}],
      ["tasks", {}],
      ["tasks/create", { tasks: [{ subject: "x" }] }],
    ];
    for (const [operation, more] of operations) {
      const answer = await agents.ask(operation, "never-was", more);
      assertFault(answer, 404, "AGENT_NOT_FOUND");
    }
  });

  test("settings stick from the message on that brings them, within the rules of the backend", async () => {
    await agents.spawn("sticky", "@ask what?", { model: "script-b" });
    await agents.wait("sticky");
    const { followUpId } = await agents.queue("sticky", "@say x", {
      reasoningEffort: "none",
      serviceTier: "flex",
      fastMode: true,
    });
    await agents.wait("sticky", { followUpId });
    const next = await agents.queue("sticky", "@say y");
    await agents.wait("sticky", { followUpId: next.followUpId });
    const { settings } = await agents.status("sticky");
    assert.equal(settings.backend, "BACKEND_B");
    assert.deepEqual(
      [settings.model, settings.reasoningEffort, settings.serviceTier, settings.fastMode],
      ["script-b", "none", "flex", true],
    );
    assert.equal(settings.sources.serviceTier, "SETTING_SOURCE_FOLLOW_UP");
    assert.equal(settings.sources.model, "SETTING_SOURCE_SPAWN");
    const refused: [string, object][] = [
      ["sticky", { model: "script-a" }],
      ["sticky", { reasoningEffort: "max" }],
      ["sticky", { serviceTier: "slow" }],
      ["sticky", { agent: "nobody" }],
    ];
    await agents.spawn("sticky-a", "@ask what?");
    refused.push(
      ["sticky-a", { model: "script-b" }],
      ["sticky-a", { reasoningEffort: "none" }],
      ["sticky-a", { serviceTier: "fast" }],
    );
    for (const [path, more] of refused) {
      const answer = await agents.ask("queue", path, { description: "x", ...more });
      assert.equal(answer.body.code, 3, `${path} ${JSON.stringify(more)}: ${JSON.stringify(answer.body)}`);
    }
    await agents.queue("sticky-a", "@say x", { reasoningEffort: "max" });
  });

  test("a structured result is told in the status", async () => {
    const outputSchema = JSON.stringify({ type: "object", required: ["n"] });
    await agents.spawn("schema", '@output {"n": 1}\n@complete ok', { outputSchema });
    assert.deepEqual((await agents.wait("schema")).status.structuredOutput, { n: 1 });
  });

  test("an output schema that does not compile is refused, in spawn, queue-add and a persona", async () => {
    const spawn = (outputSchema: string) =>
      agents.ask("spawn", "no-schema", { description: "@ask what?", outputSchema });
    assertFault(await spawn("{"), 400, "SCHEMA_INVALID", /outputSchema: is not JSON/);
    const outputSchema = JSON.stringify({ properties: { n: { type: "whole" } } });
    assertFault(await spawn(outputSchema), 400, "SCHEMA_INVALID", /properties\/n\/type/);
    await agents.spawn("no-schema", "@ask what?");
    const queued = await agents.ask("queue", "no-schema", { description: "x", outputSchema });
    assertFault(queued, 400, "SCHEMA_INVALID", /properties\/n\/type/);
    const document = (schema: string) => ({ payload: encode({ outputSchema: schema }) });
    const write = (body: object) => rest(server, server.adminKey, "POST", "/v1/catalog/persona/strict", body);
    assertFault(await write(document(outputSchema)), 400, "SCHEMA_INVALID", /properties\/n\/type/);
    assert.equal((await write(document('{"type": "object"}'))).status, 200);
  });

  test("a result is validated when it is reported; the repair that fits ends the run", async () => {
    const outputSchema = JSON.stringify({ type: "object", required: ["n"] });
    await agents.spawn("mends", '@output {"m": 1}\n@output {"n": 2}\n@output {"k": 3}\n@complete ok', {
      outputSchema,
    });
    const { reason, status } = await agents.wait("mends");
    assert.equal(reason, "WAIT_REASON_COMPLETED");
    assert.deepEqual(status.structuredOutput, { n: 2 }, "what is refused does not replace what fits");
    const refused = (await agents.timeline("mends")).filter(({ payload }) => payload.toolResult?.failed);
    assert.equal(refused.length, 2);
    assert.match(refused[0].payload.toolResult.output, /required property 'n'/);
  });

  test("a result that does not fit: after three repairs the caller is asked", async () => {
    const outputSchema = JSON.stringify({ type: "object", required: ["n"] });
    await agents.spawn("misfit", '@ignore\n@output {"m": 1}\n@complete ok', { outputSchema });
    const misfit = await agents.wait("misfit");
    assert.equal(misfit.reason, "WAIT_REASON_NEEDS_INPUT");
    assert.equal(misfit.status.runCount, "1", "repairs belong to the same run");
    assert.equal(misfit.status.lastError.kind, "schema_mismatch");
    assert.match(misfit.status.lastError.message, /required property 'n'/, "it says what did not fit");
    assert.equal(misfit.status.structuredOutput, undefined);
    const { followUpId } = await agents.queue("misfit", '@output {"n": 1}\n@complete fits');
    const mended = await agents.wait("misfit", { followUpId });
    assert.deepEqual([mended.status.result, mended.status.structuredOutput], ["fits", { n: 1 }]);
  });

  test("50 at once, a third with preempt: each ends in exactly one of DELIVERED, CLEARED, REMOVED", async () => {
    await agents.spawn("storm", "@say ready");
    const receipts = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        agents.queue("storm", `@say message ${i}`, { followUpId: `m-${i}`, preempt: i % 3 === 0 }),
      ),
    );
    const removed = await Promise.all(
      [1, 2, 4].map((i) => agents.get("queue/remove", "storm", { followUpId: `m-${i}` })),
    );
    await agents.wait("storm");
    const events = await agents.timeline("storm");
    const ends = receipts.map(({ followUpId }) => fateOf(events, followUpId));
    for (const [i, fate] of ends.entries()) {
      assert.equal(fate[0], "QUEUED", `m-${i}`);
      assert.equal(fate.length, 2, `m-${i}: ${fate}`);
      assert.ok(["DELIVERED", "CLEARED", "REMOVED"].includes(fate[1] as string), `m-${i}: ${fate}`);
    }
    for (const [at, i] of [1, 2, 4].entries()) {
      assert.equal(
        removed[at].removed,
        ends[i]?.[1] === "REMOVED",
        `m-${i}: what remove said is what happened`,
      );
    }
    const cleared = receipts.flatMap(({ clearedIds }) => clearedIds);
    assert.equal(new Set(cleared).size, cleared.length, "no message is cleared twice");
    assert.equal(cleared.length, ends.filter((fate) => fate[1] === "CLEARED").length);
    const said = [...saidIn(events).matchAll(/message (\d+)\n/g)].map(([, i]) => Number(i));
    assert.equal(new Set(said).size, said.length, "none is said twice");
    for (const i of said) assert.equal(ends[i]?.[1], "DELIVERED");
  });
});

describe("stopping a turn", () => {
  test("refusals come in order, with the reason, the current run and the phase", async () => {
    await agents.spawn("refuse", "@sleep 60s");
    await agents.until("refuse", "at work", isRunning);
    const omitted = await agents.ask("stop-turn", "refuse");
    assertFault(omitted, 400, "RUN_ID_REQUIRED");
    assert.deepEqual(omitted.body.details[0].metadata, { currentRunId: "1", phase: "PHASE_RUNNING" });
    assertFault(await agents.ask("stop-turn", "refuse", { runId: "7" }), 400, "RUN_ID_STALE");
    assert.deepEqual(await agents.get("stop-turn", "refuse", { runId: 1 }), {});
    const { status } = await agents.wait("refuse");
    assert.equal(status.phase, "PHASE_WAITING_FOR_INPUT");
    assert.equal(status.lastTurn.outcome, "TURN_OUTCOME_INTERRUPTED");
    const idle = await agents.ask("stop-turn", "refuse", { runId: 1 });
    assertFault(idle, 400, "NO_TURN_RUNNING");
    assert.deepEqual(idle.body.details[0].metadata, {
      currentRunId: "1",
      phase: "PHASE_WAITING_FOR_INPUT",
    });
    assertFault(await agents.ask("stop-turn", "refuse"), 400, "RUN_ID_REQUIRED");
    await agents.get("kill", "refuse");
    await agents.wait("refuse");
    assertFault(await agents.ask("stop-turn", "refuse", { runId: 1 }), 400, "NO_TURN_RUNNING");
  });

  test("an interrupted agent takes the next message in the same session", async () => {
    await agents.spawn("stopped", "@say before\n@sleep 60s");
    await agents.until("stopped", "at work", isRunning);
    await agents.get("stop-turn", "stopped", { runId: 1, mode: "STOP_TURN_MODE_INTERRUPT" });
    await agents.queue("stopped", "@complete after");
    const done = await agents.wait("stopped");
    assert.equal(done.status.result, "after");
    assert.equal(done.status.runCount, "2");
  });

  test("an agent that ignores the interrupt is INTERRUPTING until KILL, and lives on", async () => {
    await agents.spawn("deaf", "@hang");
    await agents.until("deaf", "at work", isRunning);
    await agents.get("stop-turn", "deaf", { runId: 1 });
    assert.equal((await agents.status("deaf")).turn.state, "TURN_STATE_INTERRUPTING");
    await agents.get("stop-turn", "deaf", { runId: 1 });
    const still = await agents.get("wait", "deaf", { timeout: "1s" });
    assert.equal(still.reason, "WAIT_REASON_TIMEOUT", "there is no escalation by itself");
    await agents.get("stop-turn", "deaf", { runId: 1, mode: "STOP_TURN_MODE_KILL" });
    const { status } = await agents.wait("deaf");
    assert.equal(status.phase, "PHASE_WAITING_FOR_INPUT");
    await agents.queue("deaf", "@complete alive");
    assert.equal((await agents.wait("deaf")).status.result, "alive");
  });

  test("a stop while the process starts keeps the prompt from being sent", async () => {
    await agents.spawn("early", "@say never");
    await agents.until("early", "started", ({ runCount }) => runCount === "1");
    const answer = await agents.ask("stop-turn", "early", { runId: 1 });
    const { status } = await agents.wait("early");
    if (answer.status === 200 && status.lastTurn.outcome === "TURN_OUTCOME_INTERRUPTED") {
      assert.equal(status.runCount, "1");
    } else assert.match(saidIn(await agents.timeline("early")), /never/);
  });
});

describe("killing", () => {
  test("a tree ends CANCELED, leaf first, and no process is left; again is 200", async () => {
    await agents.spawn(
      "tree",
      "@spawn a | @run setsid sleep 300 & | @sleep 300s\n@spawn b | @sleep 300s\n@sleep 300s",
    );
    for (const path of ["tree", "tree/a", "tree/b"]) await agents.until(path, "at work", isRunning);
    const homes = await Promise.all(
      ["tree", "tree/a", "tree/b"].map(async (path) => homeOf(await agents.status(path))),
    );
    for (const home of homes)
      assert.notDeepEqual(await agentProcesses(home), [], "there is something to end");
    assert.deepEqual(await agents.get("kill", "tree"), {});
    const stopping = await agents.status("tree");
    assert.ok(["PHASE_STOPPING", "PHASE_CANCELED"].includes(stopping.phase), stopping.phase);
    const late = await agents.ask("queue", "tree", { description: "x" });
    assert.equal(late.status, 404);
    const child = await agents.ask("spawn", "tree/c", { description: "x" });
    assert.notEqual(child.status, 200, "nothing is spawned below it any more");
    assert.deepEqual(await agents.get("kill", "tree"), {});
    assert.equal((await agents.wait("tree")).reason, "WAIT_REASON_CANCELED");
    const ended = [];
    for (const path of ["tree/a", "tree/b", "tree"]) {
      const status = await agents.status(path);
      assert.equal(status.phase, "PHASE_CANCELED", path);
      ended.push(status.endedAt);
      assert.equal((await agents.timeline(path)).at(-1).payload.phase.to, "PHASE_CANCELED");
    }
    assert.ok(ended[2] >= ended[0] && ended[2] >= ended[1], "the parent ends last");
    for (const home of homes) assert.deepEqual(await agentProcesses(home), []);
    assert.deepEqual(await agents.get("kill", "tree"), {});
  });

  test("undelivered messages are cleared with the reason", async () => {
    await agents.spawn("doomed", "@sleep 60s");
    await agents.until("doomed", "at work", isRunning);
    const queued = await agents.queue("doomed", "a");
    const deferred = await agents.queue("doomed", "b", { deliverAt: inMs(DAY_MS) });
    await agents.get("kill", "doomed");
    await agents.wait("doomed");
    const events = await agents.timeline("doomed");
    assert.deepEqual(fateOf(events, queued.followUpId), ["QUEUED", "CLEARED"]);
    assert.deepEqual(fateOf(events, deferred.followUpId), ["DEFERRED", "CLEARED"]);
    const cleared = events.find(({ type }) => type === "EVENT_TYPE_FOLLOW_UP_CLEARED");
    assert.notEqual(cleared.payload.followUp.reason, "");
  });
});

describe("children", () => {
  test("a parent awaits its child and reads its result; the news is not told twice", async () => {
    await agents.spawn("mother", "@spawn kid | @sleep 200ms | @complete grown\n@await kid\n@complete both");
    const done = await agents.wait("mother");
    assert.equal(done.reason, "WAIT_REASON_COMPLETED");
    assert.equal(done.status.runCount, "1", "what was handed over wakes nobody");
    assert.deepEqual(done.status.children, [{ phase: "PHASE_COMPLETED", count: 1 }]);
    const events = await agents.timeline("mother");
    assert.match(saidIn(events), /kid is COMPLETED: grown/);
    const types = typesOf(events);
    assert.ok(types.includes("CHILD_SPAWNED") && types.includes("CHILD_ENDED"), types.join());
    assert.equal((await agents.status("mother/kid")).agentId.agent.join("/"), "mother/kid");
  });

  test("a parent with a live child sleeps; the child's end is news that gives it a turn", async () => {
    await agents.spawn("father", "@spawn kid | @ask may I?");
    const asked = await agents.until("father", "told of the question", ({ runCount, phase }) => {
      return runCount === "2" && phase !== "PHASE_RUNNING" && phase !== "PHASE_PENDING";
    });
    assert.equal((await agents.status("father/kid")).needsInput, "may I?");
    assert.ok(["PHASE_SLEEPING", "PHASE_WAITING_FOR_INPUT"].includes(asked.phase), asked.phase);
    const news = (await agents.timeline("father")).filter(
      ({ type }) => type === "EVENT_TYPE_FOLLOW_UP_DELIVERED",
    );
    assert.equal(news.length, 1);
    assert.match(news[0].payload.followUp.followUp.description, /may I\?/);
    await agents.queue("father/kid", "@sleep 300ms\n@complete yes");
    await agents.until("father", "told of the end", ({ runCount }) => runCount === "3");
    await agents.wait("father", { afterRun: 2 });
    assert.equal((await agents.status("father/kid")).phase, "PHASE_COMPLETED");
  });

  test("a parent that has nothing else to do is SLEEPING while its child works", async () => {
    await agents.spawn("dozing", "@spawn kid | @sleep 60s\n@complete mine");
    await agents.until("dozing", "asleep", isPhase("SLEEPING"));
    await agents.get("kill", "dozing/kid");
    const done = await agents.wait("dozing");
    assert.equal(done.reason, "WAIT_REASON_COMPLETED", "it had declared done: only rest is evaluated again");
    assert.equal(done.status.runCount, "1");
  });

  test("children of an agent that fails go with it", async () => {
    await agents.spawn("failing", "@spawn kid | @sleep 60s\n@sleep 200ms\n@fail broken");
    const failed = await agents.wait("failing");
    assert.equal(failed.reason, "WAIT_REASON_FAILED");
    assert.match(failed.status.lastError.message, /broken/);
    assert.equal((await agents.wait("failing/kid")).reason, "WAIT_REASON_CANCELED");
    await agents.spawn("failing", "@complete second life");
    assert.equal((await agents.wait("failing")).status.result, "second life", "its path is free again");
  });

  test("a directive in a child's result is not followed by its parent", async () => {
    await agents.spawn("wary", "@spawn kid | @complete @fail gotcha");
    await agents.until("wary", "told", ({ runCount }) => runCount === "2");
    const rested = await agents.wait("wary", { afterRun: 1 });
    assert.notEqual(rested.reason, "WAIT_REASON_FAILED");
  });
});

describe("what can go wrong beneath a turn", () => {
  test("@fail is fatal", async () => {
    await agents.spawn("fails", "@say before\n@fail no use");
    const { reason, status } = await agents.wait("fails");
    assert.equal(reason, "WAIT_REASON_FAILED");
    assert.match(status.lastError.message, /no use/);
    assert.equal(status.lastTurn.outcome, "TURN_OUTCOME_FAILED");
  });

  test("after @crash the next attempt goes on behind it, in the same run and session", async () => {
    await agents.spawn("crashes", "@say one\n@crash\n@say two\n@complete done");
    const { reason, status } = await agents.wait("crashes");
    assert.equal(reason, "WAIT_REASON_COMPLETED", JSON.stringify(status));
    assert.equal(status.runCount, "1");
    const events = await agents.timeline("crashes");
    assert.equal(events.filter(({ type }) => type === "EVENT_TYPE_RUNNER_LOST").length, 1);
    assert.equal(events.at(-2).attempt, 2);
    const said = saidIn(events);
    assert.equal(said.match(/one/g)?.length, 1, said);
    assert.equal(said.match(/two/g)?.length, 1, said);
  });

  test("three crashes in a row are the end", async () => {
    await agents.spawn("wreck", "@crash\n@crash\n@crash\n@complete never");
    const { reason, status } = await agents.wait("wreck");
    assert.equal(reason, "WAIT_REASON_FAILED");
    assert.equal(status.lastError.retryable, false);
  });

  test("usage is counted into the status and the list, once", async () => {
    await agents.spawn("spender", "@usage 100 20 30 0.5\n@usage 1 2 3 0.25\n@ask more?");
    const { status } = await agents.wait("spender");
    const { inputTokens, cachedInputTokens, outputTokens, totalTokens, cost } = status;
    assert.deepEqual([inputTokens, cachedInputTokens, outputTokens, totalTokens], ["101", "33", "22", "156"]);
    assert.equal(cost, 0.75);
    const next = await agents.queue("spender", "@usage 1 1 1 0.25\n@complete");
    await agents.wait("spender", { followUpId: next.followUpId });
    const after = await agents.status("spender");
    assert.deepEqual([after.totalTokens, after.cost, after.subtreeCost], ["159", 1, 1]);
    assert.equal(after.lastTurn.usage.cost, 0.25);
  });

  test("a budget that is spent ends the turn and holds the queue until it is raised", async () => {
    await agents.spawn("broke", "@usage 1 1 1 2\n@sleep 60s", { budget: { maxCostUsd: 1 } });
    const { status } = await agents.wait("broke");
    assert.equal(status.phase, "PHASE_WAITING_FOR_INPUT");
    assert.match(status.needsInput, /budget/);
    const { followUpId } = await agents.queue("broke", "@complete paid");
    assert.equal((await agents.status("broke")).phase, "PHASE_WAITING_FOR_INPUT");
    await agents.get("update", "broke", { budget: { maxCostUsd: 5 } });
    assert.equal((await agents.wait("broke", { followUpId })).status.result, "paid");
  });
});

describe("waiting", () => {
  test("a timeout is an answer; so is the end of a message's turn, and a rest after a run", async () => {
    await agents.spawn("waited", "@ask what?");
    await agents.wait("waited");
    const after = await agents.get("wait", "waited", { afterRun: 1, timeout: "0.2s" });
    assert.equal(after.reason, "WAIT_REASON_TIMEOUT", "the rest of run 1 does not count");
    const waiting = agents.wait("waited", { afterRun: 1 });
    const { followUpId } = await agents.queue("waited", "@say hm\n@ask and now?");
    assert.equal((await waiting).status.needsInput, "and now?");
    assert.equal((await agents.wait("waited", { followUpId })).reason, "WAIT_REASON_FOLLOW_UP_DONE");
    const unknown = await agents.ask("wait", "waited", { followUpId: "never" });
    assertFault(unknown, 404, "FOLLOW_UP_NOT_FOUND");
    const negative = await agents.ask("wait", "waited", { timeout: "-1s" });
    assert.equal(negative.body.code, 3);
  });

  test("waiting for a message that is cleared or removed ends with FOLLOW_UP_CLEARED", async () => {
    await agents.spawn("emptied", "@sleep 60s");
    await agents.until("emptied", "at work", isRunning);
    const cleared = await agents.queue("emptied", "a");
    const removed = await agents.queue("emptied", "b", { deliverAt: inMs(DAY_MS) });
    const waits = [cleared, removed].map(({ followUpId }) => agents.wait("emptied", { followUpId }));
    await agents.get("clear-follow-ups", "emptied");
    await agents.get("queue/remove", "emptied", { followUpId: removed.followUpId });
    for (const { reason } of await Promise.all(waits)) assert.equal(reason, "WAIT_REASON_FOLLOW_UP_CLEARED");
    for (const { followUpId } of [cleared, removed]) {
      const { reason } = await agents.wait("emptied", { followUpId });
      assert.equal(reason, "WAIT_REASON_FOLLOW_UP_CLEARED", "also for whoever asks later");
    }
    await agents.get("kill", "emptied");
  });
});

describe("the checklist", () => {
  test("tasks move by the rules; a blocked one is refused until its blocker is done", async () => {
    await agents.spawn("list", "@ask what?");
    const { tasks } = await agents.get("tasks/create", "list", {
      tasks: [
        { id: "dig", subject: "Dig" },
        { id: "fill", subject: "Fill", blockedBy: ["dig"] },
        { subject: "Any" },
      ],
    });
    assert.equal(tasks[0].status, "TASK_STATUS_PENDING");
    assert.deepEqual(tasks[0].blocks, ["fill"], "edges are symmetric");
    assert.notEqual(tasks[2].id, "");
    const move = (id: string, status: string) =>
      agents.ask("tasks/update", "list", {
        task: { id, status: `TASK_STATUS_${status}` },
        updateMask: "status",
      });
    assertFault(await move("fill", "IN_PROGRESS"), 400, "TASK_BLOCKED");
    assert.equal((await move("dig", "COMPLETED")).body.task.status, "TASK_STATUS_COMPLETED");
    assert.equal((await move("fill", "IN_PROGRESS")).status, 200);
    assert.equal((await move("fill", "DELETED")).status, 200);
    assert.notEqual((await move("fill", "PENDING")).status, 200, "deleted is final");
    const shown = await agents.get("tasks", "list");
    assert.deepEqual(
      shown.tasks.map(({ subject }: { subject: string }) => subject),
      ["Dig", "Any"],
    );
    const all = await agents.get("tasks", "list", { includeDeleted: true });
    assert.equal(all.tasks.length, 3);
    const create = (task: object) => agents.ask("tasks/create", "list", { tasks: [task] });
    assert.equal((await create({ id: "dig", subject: "Again" })).body.code, 6);
    assert.equal((await create({ id: "x", subject: "X", blockedBy: ["nothing"] })).body.code, 3);
    assert.equal((await create({ id: "x", subject: "X", blockedBy: ["x"] })).body.code, 3, "a cycle");
    assert.equal((await create({ id: "x", subject: "X", status: "TASK_STATUS_DELETED" })).body.code, 3);
    for (const set of [{ persona: "p" }, { dedupKey: "k" }, { ephemeral: true }]) {
      assert.equal((await create({ id: "x", subject: "X", ...set })).body.code, 3, JSON.stringify(set));
    }
  });

  test("the agent walks its own checklist, and refusals are said to it", async () => {
    const tasks = [
      { id: "a", subject: "A" },
      { id: "b", subject: "B", blockedBy: ["a"] },
    ];
    await agents.spawn("walker", "do what is on the list", { tasks });
    const { status } = await agents.wait("walker");
    for (const task of status.tasks) assert.equal(task.status, "TASK_STATUS_COMPLETED", task.id);
    await agents.spawn("refused", "@task b completed\n@addtask c More\n@task a completed\n@ignore", {
      tasks,
    });
    const rest = await agents.wait("refused");
    assert.match(saidIn(await agents.timeline("refused")), /was refused/);
    assert.deepEqual(
      rest.status.tasks.map(({ id, status }: { id: string; status: string }) => [id, status]),
      [
        ["a", "TASK_STATUS_COMPLETED"],
        ["b", "TASK_STATUS_PENDING"],
        ["c", "TASK_STATUS_PENDING"],
      ],
    );
  });

  test("completing with open tasks brings three reminders in the same run, then the caller is asked", async () => {
    await agents.spawn("forgetful", "@ignore\n@complete", { tasks: [{ id: "a", subject: "A" }] });
    const { reason, status } = await agents.wait("forgetful");
    assert.equal(reason, "WAIT_REASON_NEEDS_INPUT");
    assert.equal(status.runCount, "1");
    assert.equal(status.needsInput, "tasks were left open: a");
    const prompts = saidIn(await agents.timeline("forgetful")).match(/\[script, no model\]/g);
    assert.equal(prompts?.length, 4, "the message and three reminders");
  });

  test("a message's tasks come with its delivery; a cleared message brings none", async () => {
    await agents.spawn("brings", "@sleep 60s");
    await agents.until("brings", "at work", isRunning);
    await agents.queue("brings", "a", { tasks: [{ id: "gone", subject: "Gone" }] });
    const taken = await agents.ask("tasks/create", "brings", { tasks: [{ id: "gone", subject: "x" }] });
    assert.equal(taken.body.code, 6, "undelivered messages count");
    await agents.get("clear-follow-ups", "brings");
    const { followUpId } = await agents.queue("brings", "b", { tasks: [{ id: "came", subject: "Came" }] });
    assert.deepEqual((await agents.status("brings")).tasks, []);
    await agents.get("stop-turn", "brings", { runId: 1 });
    await agents.wait("brings", { followUpId });
    const { tasks } = await agents.status("brings");
    assert.deepEqual(
      tasks.map(({ id }: { id: string }) => id),
      ["came"],
    );
  });
});

describe("listing", () => {
  test("one level deep, live ones unless asked, by account", async () => {
    const key = await mintKey(server, "lister", { account: "lister", role: "member" });
    const own = createAgentCaller(server, key);
    await own.spawn("one", "@spawn kid | @ask what?\n@ask what?");
    await own.spawn("two", "@complete");
    await own.wait("two");
    await own.until("one/kid", "there", () => true);
    const list = async (body: object, by = key) => {
      const answer = await rest(server, by, "POST", "/v1/agents", body);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body.entries.map((e: { agentId: { agent: string[] } }) => e.agentId.agent.join("/"));
    };
    assert.deepEqual(await list({}), ["one"]);
    assert.deepEqual(await list({ includeTerminal: true }), ["one", "two"]);
    assert.deepEqual(await list({ parentId: { agent: ["one"] } }), ["one/kid"]);
    assert.deepEqual(await list({ account: "lister" }, server.adminKey), ["one"]);
    assert.deepEqual(await list({ account: "codehost_oauth/lister" }, server.adminKey), ["one"]);
    assert.ok(!(await list({}, server.adminKey)).includes("one"));
    assert.ok((await list({ account: "*" }, server.adminKey)).includes("one"));
    const forbidden = await rest(server, key, "POST", "/v1/agents", { account: "*" });
    assert.equal(forbidden.status, 403);
    const unknown = await rest(server, server.adminKey, "POST", "/v1/agents", { account: "nope/x" });
    assert.equal(unknown.status, 400);
    const foreign = await own.ask("status", "one", { agentId: { agent: ["one"], account: "admin" } });
    assert.equal(foreign.status, 403, "refused before any look-up");
    const pages: string[] = [];
    for (let pageToken = ""; ; ) {
      const { body } = await rest(server, key, "POST", "/v1/agents", {
        includeTerminal: true,
        pageSize: 1,
        pageToken,
      });
      pages.push(...body.entries.map((e: { agentId: { agent: string[] } }) => e.agentId.agent.join("/")));
      pageToken = body.nextPageToken;
      if (pageToken === "") break;
    }
    assert.deepEqual(pages, ["one", "two"]);
  });

  test("whole trees at once, and by their uid the agents in them", async () => {
    const key = await mintKey(server, "forester", { account: "forester", role: "member" });
    const own = createAgentCaller(server, key);
    const old = await own.spawn("oak", "@spawn leaf | @complete fallen\n@await leaf\n@complete");
    await own.wait("oak");
    const oak = await own.spawn("oak", "@spawn twig | @ask what?\n@ask what?", {
      labels: { grove: "north" },
    });
    await own.spawn("oak/branch", "@ask what?");
    await own.spawn("fir", "@ask what?");
    const list = async (body: object, by = key) => {
      const query = { includeDescendants: true, ...body };
      const answer = await rest(server, by, "POST", "/v1/agents", query);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body.entries as {
        agentId: { agent: string[]; uid: string };
        parentUid: string;
        createdAt: string;
        labels: object;
      }[];
    };
    const pathsOf = async (body: object) =>
      (await list(body)).map(({ agentId }) => agentId.agent.join("/")).sort();
    await own.until("oak/twig", "there", () => true);
    assert.deepEqual(await pathsOf({}), ["fir", "oak", "oak/branch", "oak/twig"]);
    assert.deepEqual(await pathsOf({ parentId: { agent: ["oak"] } }), ["oak/branch", "oak/twig"]);
    // Not those of the incarnation before, though their paths begin alike.
    const all = { includeTerminal: true };
    assert.deepEqual(await pathsOf({ parentId: { uid: oak.agentId.uid }, ...all }), [
      "oak/branch",
      "oak/twig",
    ]);
    assert.deepEqual(await pathsOf({ parentId: { uid: old.agentId.uid }, ...all }), ["oak/leaf"]);
    assert.deepEqual(
      [(await list({ pageSize: 3 })).length, (await pathsOf(all)).length],
      [3, 6],
      "pages, and ended ones",
    );
    const root = (await list({})).find(({ agentId }) => agentId.uid === oak.agentId.uid);
    assert.deepEqual([root?.parentUid, root?.labels], ["", { grove: "north" }]);
    assert.ok(Date.parse(root?.createdAt ?? "") <= Date.now());
    const twig = (await list({ parentId: { agent: ["oak"] } }))[0];
    assert.equal(twig?.parentUid, oak.agentId.uid);

    const byUid = (operation: string, uid: string, by = key) =>
      rest(server, by, "POST", `/v1/agent/${operation}`, { agentId: { uid } });
    assert.deepEqual((await byUid("status", oak.agentId.uid)).body.agentId.agent, ["oak"]);
    assert.equal((await byUid("status", oak.agentId.uid, server.adminKey)).status, 200, "accounts:all");
    assert.equal((await byUid("status", old.agentId.uid)).body.phase, "PHASE_COMPLETED");
    assertFault(await byUid("kill", old.agentId.uid), 404, "AGENT_NOT_FOUND");
    assertFault(await byUid("status", "nobody"), 404, "AGENT_NOT_FOUND");
    const stranger = await mintKey(server, "stranger", { account: "stranger", role: "member" });
    assertFault(await byUid("status", oak.agentId.uid, stranger), 404, "AGENT_NOT_FOUND");
  });
});

describe("the pool", () => {
  test("twelve agents share eight slots, and those that wait say why", async () => {
    const crowded = await startServer();
    const caller = createAgentCaller(crowded, crowded.adminKey);
    const paths = Array.from({ length: 12 }, (_, i) => `slot-${i}`);
    await Promise.all(paths.map((path) => caller.spawn(path, "@sleep 1s\n@complete")));
    let most = 0;
    const reasons = new Set<string>();
    await until(
      "all have ended",
      async () => {
        const seen = await Promise.all(paths.map((path) => caller.status(path)));
        most = Math.max(most, seen.filter(({ turn }) => turn !== undefined).length);
        for (const { phase, pendingReason } of seen)
          if (phase === "PHASE_PENDING") reasons.add(pendingReason);
        return seen.map(({ phase }) => phase);
      },
      (phases) => phases.every((phase) => phase === "PHASE_COMPLETED"),
    );
    // Statuses are read one by one, so the log decides: turns that overlapped at any one moment.
    const moments: [string, number][] = [];
    for (const path of paths) {
      const { lastTurn } = await caller.status(path);
      moments.push([lastTurn.startedAt, 1], [lastTurn.endedAt, -1]);
    }
    moments.sort(([a, x], [b, y]) => a.localeCompare(b) || x - y);
    let held = 0;
    for (const [, step] of moments) {
      held += step;
      assert.ok(held <= 8, `${held} turns at once`);
    }
    assert.ok(most >= 2, "they do run side by side");
    assert.deepEqual([...reasons], ["waiting for a slot in pool default"]);
    await crowded.close(0);
  });

  test("a workspace names its pool, whose slots and whose waiters can be seen", async () => {
    const own = await startServer();
    const caller = createAgentCaller(own, own.adminKey);
    const narrow = { agentId: { agent: ["narrow-1"], workspace: "narrow" } };
    for (const [kind, document] of [
      ["pool-config", { slots: 1 }],
      ["workspace", { pool: "narrow" }],
    ] as const) {
      const put = { payload: encode(document) };
      const answer = await rest(own, own.adminKey, "POST", `/v1/catalog/${kind}/narrow`, put);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
    }
    await caller.spawn("narrow-1", "@sleep 60s", narrow);
    await caller.until("narrow-1", "at work", ({ turn }) => turn !== undefined);
    await caller.spawn("narrow-2", "@complete", { agentId: { agent: ["narrow-2"], workspace: "narrow" } });
    const { pendingReason } = await caller.status("narrow-2");
    assert.equal(pendingReason, "waiting for a slot in pool narrow");
    const look = async () => (await rest(own, own.adminKey, "GET", "/v1/pools")).body.pools;
    const shown = { name: "narrow", slots: 1, slotsPerAccount: 0, slotsPerTree: 0, held: 1, waiting: 1 };
    // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of every shape
    const narrowOf = (pools: any[]) => pools.find(({ name }) => name === "narrow");
    assert.deepEqual(
      narrowOf(await until("one waits", look, (pools) => narrowOf(pools)?.waiting === 1)),
      shown,
    );
    await caller.get("kill", "narrow-1");
    await caller.wait("narrow-2");
    assert.deepEqual(
      (await look()).map(({ name }: { name: string }) => name),
      ["default", "narrow"],
    );
    await own.close(0);
  });
});

describe("a path that is used again", () => {
  // They start tomorrow: what is looked up is who is meant, and no turn is needed for that.
  const later = { startAt: inMs(DAY_MS) };

  test("an agent that was talked to is not mistaken for its successor", async () => {
    const first = await agents.spawn("heir", "@complete", later);
    const uid = first.agentId.uid;
    assert.equal((await agents.status("heir")).uid, uid);
    await agents.queue("heir", "hello");
    await agents.get("kill", "heir");
    await agents.until("heir", "has ended", isPhase("CANCELED"));
    assertFault(await agents.ask("queue", "heir", { description: "hello?" }), 404, "AGENT_TERMINAL");
    const second = await agents.spawn("heir", "@complete", later);
    assert.notEqual(second.agentId.uid, uid);
    const { seq } = await agents.queue("heir", "hello");
    const status = await agents.status("heir");
    assert.equal(status.uid, second.agentId.uid);
    assert.equal(status.followUps.length, 1);
    assert.equal(seq, status.lastSeq);
  });

  test("nor for one in another workspace, once there is one", async () => {
    const made = await rest(server, server.adminKey, "POST", "/v1/catalog/workspace/elsewhere", {
      payload: encode({}),
    });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const inWorkspace = (workspace: string) => ({ agentId: { agent: ["twin"], workspace } });
    await agents.spawn("twin", "@complete", { ...later, ...inWorkspace("default") });
    await agents.queue("twin", "hello");
    const second = await agents.spawn("twin", "@complete", { ...later, ...inWorkspace("elsewhere") });
    assertFault(await agents.ask("queue", "twin", { description: "who?" }), 400, "WORKSPACE_AMBIGUOUS");
    const status = await agents.get("status", "twin", inWorkspace("elsewhere"));
    assert.equal(status.uid, second.agentId.uid);
  });
});

describe("who may", () => {
  test("each operation needs its scope", async () => {
    await agents.spawn("guarded", "@ask what?");
    const key = await mintKey(server, "reader", {
      account: "admin",
      scopes: ["agents:read", "agents:message"],
    });
    const reader = createAgentCaller(server, key);
    assert.equal((await reader.ask("status", "guarded")).status, 200);
    assert.equal((await reader.ask("queue", "guarded", { description: "x", preempt: true })).status, 403);
    assert.equal((await reader.ask("stop-turn", "guarded", { runId: 1 })).status, 403);
    assert.equal((await reader.ask("kill", "guarded")).status, 403);
    assert.equal((await reader.ask("spawn", "other", { description: "x" })).status, 403);
    assert.equal((await reader.ask("queue", "guarded", { description: "@ask what?" })).status, 200);
  });
});
