import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromJson } from "@bufbuild/protobuf";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import {
  QueueFollowUpRequestSchema,
  SpawnAgentRequestSchema,
} from "../../../gen/retinue/v1/agent_service_pb.js";
import { followUpFingerprint } from "../../../src/domain/agent/follow-up.js";
import { followUpRequestOf, spawnRequestOf } from "../../../src/domain/agent/requests.js";
import { at, queue, refuses, running, spawned } from "./fixtures.js";

describe("requests as they come over the wire", () => {
  it("an empty queue-add leaves everything unset", () => {
    const request = followUpRequestOf(create(QueueFollowUpRequestSchema));
    assert.deepEqual(
      [request.deliverAtMs, request.fastMode, request.preempt, request.tasks],
      [undefined, undefined, false, []],
    );
  });
  it("every field of queue-add is taken over", () => {
    const json = {
      description: "d",
      followUpId: "f",
      agent: "p",
      model: "opus",
      reasoningEffort: "low",
      serviceTier: "fast",
      fastMode: false,
      outputSchema: "{}",
      preempt: true,
      deliverAt: "2027-01-15T08:00:00.250Z",
      tasks: [{ id: "t", subject: "s", activation: { filesModified: { pattern: "*.ts" } } }],
    };
    const { tasks, ...request } = followUpRequestOf(fromJson(QueueFollowUpRequestSchema, json));
    const { deliverAt, tasks: _, ...same } = json;
    assert.deepEqual(request, { ...same, deliverAtMs: Date.parse(deliverAt) });
    assert.equal(tasks[0]?.id, "t");
  });
  it("a task of the wire is one of the rules", () => {
    const json = {
      description: "d",
      tasks: [{ id: "t", activation: { filesModified: { pattern: "*.ts" } } }],
    };
    const { agent } = queue(running(), followUpRequestOf(fromJson(QueueFollowUpRequestSchema, json)), at());
    assert.deepEqual(
      [agent.queued[0]?.tasks[0]?.filesModified, agent.queued[0]?.tasks[0]?.active],
      ["*.ts", false],
    );
  });
  it("equal requests have equal fingerprints, however their fields were ordered", () => {
    const print = (json: Record<string, string | boolean>) =>
      followUpFingerprint(followUpRequestOf(fromJson(QueueFollowUpRequestSchema, json)));
    assert.equal(print({ description: "d", preempt: true }), print({ preempt: true, description: "d" }));
    assert.notEqual(print({ description: "d" }), print({ model: "d" }));
  });
  it("every field of spawn is taken over", () => {
    const json = {
      description: "d",
      expectedOutput: "e",
      agent: "p",
      environment: "env",
      labels: { a: "b" },
      startAt: "2027-01-15T08:00:00Z",
      idlePolicy: "IDLE_POLICY_REST",
      budget: { maxCostUsd: 1.5, maxTokens: "10", maxTurns: 3, maxWallTime: "1.5s" },
    };
    const request = spawnRequestOf(fromJson(SpawnAgentRequestSchema, json));
    assert.deepEqual(request.budget, { maxCostUsd: 1.5, maxTokens: 10, maxTurns: 3, maxWallTimeMs: 1500 });
    assert.deepEqual(
      [request.startAtMs, request.idlePolicy, { ...request.labels }],
      [Date.parse(json.startAt), 1, { a: "b" }],
    );
    assert.deepEqual(
      [request.description, request.expectedOutput, request.agent, request.environment],
      ["d", "e", "p", "env"],
    );
  });
  it("a budget that no number can hold is refused, not rounded", () => {
    const message = fromJson(SpawnAgentRequestSchema, { budget: { maxTokens: "9223372036854775807" } });
    refuses(() => spawned({ budget: spawnRequestOf(message).budget }), {
      code: Code.INVALID_ARGUMENT,
      reason: "INVALID_FIELD",
    });
  });
});
