import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { AgentStatusSchema, Phase, TurnOutcome, TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import { SettingSource } from "../../../gen/retinue/v1/settings_pb.js";
import { TaskStatus } from "../../../gen/retinue/v1/task_pb.js";
import type { Agent } from "../../../src/domain/agent/agent.js";
import { gaveOutput } from "../../../src/domain/agent/output.js";
import { listEntryOf, type StatusExtras, statusOf } from "../../../src/domain/agent/status.js";
import { updateTask } from "../../../src/domain/agent/task-update.js";
import { usageReported } from "../../../src/domain/agent/usage-report.js";
import {
  ask,
  at,
  done,
  end,
  fenceOf,
  followUp,
  lose,
  queue,
  queueAll,
  resting,
  running,
  spawned,
  T0,
  task,
} from "./fixtures.js";

const extras: StatusExtras = {
  nowMs: T0,
  lastSeq: 7n,
  repos: ["app"],
  children: [{ phase: Phase.RUNNING, count: 2 }],
  subtreeCost: 3,
  dashboardUrl: "http://x/a",
  pool: "default",
};
const status = (agent: Agent, more: Partial<StatusExtras> = {}) => statusOf(agent, { ...extras, ...more });
const used = (agent: Agent) =>
  usageReported(
    agent,
    { ...fenceOf(agent), usage: { inputTokens: 10, cachedInputTokens: 5, outputTokens: 1, cost: 0.5 } },
    at(),
  ).agent;

describe("status (semantics 3)", () => {
  it("names the agent completely", () => {
    const { agentId, uid } = status(spawned());
    assert.deepEqual(
      [agentId?.tenant?.org, agentId?.account, agentId?.workspace, agentId?.agent, agentId?.uid, uid],
      ["local", "ann", "main", ["root"], "root", "root"],
    );
  });
  it("says why a PENDING agent does not run yet", () => {
    assert.equal(status(spawned()).pendingReason, "waiting for a slot in pool default");
    assert.equal(
      status(spawned({ startAtMs: T0 + 1000 })).pendingReason,
      `starts at ${new Date(T0 + 1000).toISOString()}`,
    );
    assert.equal(status(running()).pendingReason, "");
  });
  it("shows the turn that is held", () => {
    const { turn, runCount } = status(end(queueAll(running(), ["a"])).agent);
    assert.deepEqual(
      [turn?.runId, turn?.attempt, turn?.state, turn?.followUpIds, runCount],
      [2n, 1, TurnState.STARTING, ["a"], 2n],
    );
  });
  it("shows the turn that ended last, and no other", () => {
    const { turn, lastTurn } = status(end(used(running()), { summary: "done that" }).agent);
    assert.equal(turn, undefined);
    assert.deepEqual(
      [lastTurn?.runId, lastTurn?.outcome, lastTurn?.summary, lastTurn?.usage?.totalTokens],
      [1n, TurnOutcome.COMPLETED, "done that", 16n],
    );
  });
  it("lists queued messages, then deferred ones, in the order of delivery", () => {
    let agent = queue(running(), followUp("late", { deliverAtMs: T0 + 9 })).agent;
    agent = queueAll(queue(agent, followUp("soon", { deliverAtMs: T0 + 5 })).agent, ["a", "b"]);
    const { followUps, nextWakeAt } = status(agent);
    assert.deepEqual(
      followUps.map(({ followUpId, state, position }) => [followUpId, FollowUpState[state], position]),
      [
        ["a", "QUEUED", 1],
        ["b", "QUEUED", 2],
        ["soon", "DEFERRED", 0],
        ["late", "DEFERRED", 0],
      ],
    );
    assert.equal(nextWakeAt && timestampMs(nextWakeAt), T0 + 5);
  });
  it("leaves deleted tasks out, and edges to tasks that are still to come", () => {
    let agent = running({ tasks: [task("a"), task("b")] });
    agent = queue(agent, followUp("f", { tasks: [task("later")] })).agent;
    agent = updateTask(
      agent,
      { task: task("a", { blockedBy: ["later"] }), paths: ["blockedBy"] },
      at(),
    ).agent;
    agent = updateTask(
      agent,
      { task: task("b", { status: TaskStatus.DELETED }), paths: ["status"] },
      at(),
    ).agent;
    assert.deepEqual(
      status(agent).tasks.map(({ id, blockedBy }) => [id, blockedBy]),
      [["a", []]],
    );
    assert.deepEqual(status(end(agent).agent).tasks[0]?.blockedBy, ["later"]);
  });
  it("needsInput is the question or reason, empty unless WAITING (semantics 1, row 20)", () => {
    assert.equal(status(end(ask(running(), "red?")).agent).needsInput, "red?");
    assert.notEqual(status(resting()).needsInput, "");
    assert.equal(status(queueAll(end(ask(running(), "red?")).agent, ["a"])).needsInput, "");
  });
  it("cost and tokens: dollars, input without cache reads, and the sum (semantics 1, row 19)", () => {
    const s = status(used(running()));
    assert.deepEqual(
      [s.cost, s.inputTokens, s.cachedInputTokens, s.outputTokens, s.totalTokens, s.subtreeCost],
      [0.5, 10n, 5n, 1n, 16n, 3],
    );
  });
  it("result and structured output", () => {
    const agent = running();
    const given = gaveOutput(agent, { ...fenceOf(agent), output: { a: [1] } }, at()).agent;
    const json = toJson(AgentStatusSchema, status(end(done(given, "ok")).agent)) as Record<string, unknown>;
    assert.deepEqual([json.result, json.structuredOutput], ["ok", { a: [1] }]);
  });
  it("a structured output of null is one", () => {
    const agent = running();
    const given = gaveOutput(agent, { ...fenceOf(agent), output: null }, at()).agent;
    assert.deepEqual(status(end(given).agent).structuredOutput?.kind.case, "nullValue");
  });
  it("last error, end and progress", () => {
    const s = status(lose(running(), "fatal", at(T0 + 5)).agent);
    assert.deepEqual(
      [s.lastError?.kind, s.endedAt && timestampMs(s.endedAt), s.progressAt && timestampMs(s.progressAt)],
      ["agent_exited", T0 + 5, T0],
    );
  });
  it("budget: limits, spent and reserved; unset without one", () => {
    const budget = { maxCostUsd: 2, maxTokens: undefined, maxTurns: 5, maxWallTimeMs: 9000 };
    const s = status(used(running({ budget })), { nowMs: T0 + 3000 });
    assert.deepEqual(
      [s.budget?.limits?.maxCostUsd, s.budget?.limits?.maxTokens, s.budget?.limits?.maxTurns],
      [2, undefined, 5n],
    );
    assert.deepEqual(
      [s.budget?.spent?.maxCostUsd, s.budget?.spent?.maxTurns, s.budget?.spent?.maxWallTime?.seconds],
      [0.5, 1n, 3n],
    );
    assert.equal(status(running()).budget, undefined);
  });
  it("settings and where each came from", () => {
    const { settings } = status(running({ model: "opus" }));
    assert.deepEqual(
      [settings?.agent, settings?.model, settings?.sources.model, settings?.sources.backend],
      ["default", "opus", SettingSource.SPAWN, SettingSource.SPAWN],
    );
    assert.deepEqual(Object.keys(settings?.sources ?? {}).sort(), [
      "agent",
      "backend",
      "fastMode",
      "model",
      "outputSchema",
      "reasoningEffort",
      "serviceTier",
    ]);
  });
  it("what the store provides is passed on", () => {
    const s = status(running({ labels: { k: "v" } }));
    assert.deepEqual(
      [s.lastSeq, s.repos, s.children[0]?.count, s.dashboardUrl, s.labels, s.runtime?.capabilities],
      [7n, ["app"], 2, "http://x/a", { k: "v" }, ["deferral"]],
    );
  });
});

describe("list entry (interface 2.5)", () => {
  it("has every field of the document", () => {
    const entry = listEntryOf(end(ask(used(running()), "red?")).agent, extras);
    assert.deepEqual(
      [
        entry.agentId?.agent,
        entry.phase,
        entry.cost,
        entry.repos,
        entry.dashboardUrl,
        entry.inputTokens,
        entry.cachedInputTokens,
        entry.outputTokens,
        entry.totalTokens,
        entry.needsInput,
        entry.progressAt && timestampMs(entry.progressAt),
        entry.createdAt && timestampMs(entry.createdAt),
        entry.phaseSince && timestampMs(entry.phaseSince),
      ],
      [["root"], Phase.WAITING_FOR_INPUT, 0.5, ["app"], "http://x/a", 10n, 5n, 1n, 16n, "red?", T0, T0, T0],
    );
  });
});
