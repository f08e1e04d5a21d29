import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { WaitReason } from "../../../gen/retinue/v1/agent_service_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import type { Agent } from "../../../src/domain/agent/agent.js";
import type { FollowUpRecord } from "../../../src/domain/agent/follow-up.js";
import { killAgent, processesEnded } from "../../../src/domain/agent/kill.js";
import { followUpWaitEnd, waitEnd } from "../../../src/domain/agent/wait.js";
import {
  ask,
  at,
  done,
  end,
  interrupting,
  lose,
  queueAll,
  recovering,
  refuses,
  resting,
  running,
  spawned,
  start,
  starting,
  withChild,
} from "./fixtures.js";

const stopping = () => killAgent(running(), "killed", at()).agent;
const budget = { maxCostUsd: undefined, maxTokens: undefined, maxTurns: 1, maxWallTimeMs: undefined };
const broke = () => end(queueAll(running({ budget }), ["f"])).agent;

describe("what ends a wait (interface 4.9; semantics 3)", () => {
  const rows: [row: string, agent: () => Agent, reason: WaitReason | undefined][] = [
    ["it finished: COMPLETED", () => end(done(running())).agent, WaitReason.COMPLETED],
    ["it failed: FAILED", () => lose(running(), "fatal").agent, WaitReason.FAILED],
    ["it was killed: CANCELED", () => processesEnded(stopping(), at()).agent, WaitReason.CANCELED],
    ["it asked: NEEDS_INPUT", () => end(ask(running())).agent, WaitReason.NEEDS_INPUT],
    ["it rests plainly: NEEDS_INPUT", resting, WaitReason.NEEDS_INPUT],
    ["its budget is spent: NEEDS_INPUT", broke, WaitReason.NEEDS_INPUT],
    ["PENDING does not end it", spawned, undefined],
    [
      "PENDING by a message does not: the old rest is never seen",
      () => queueAll(resting(), ["a"]),
      undefined,
    ],
    ["STARTING does not", starting, undefined],
    ["RUNNING does not", running, undefined],
    ["INTERRUPTING does not", interrupting, undefined],
    ["RECOVERING does not", recovering, undefined],
    ["SLEEPING does not", () => end(withChild(running(), "c")).agent, undefined],
    ["STOPPING does not: it holds until CANCELED", stopping, undefined],
  ];
  for (const [row, agent, reason] of rows) it(row, () => assert.equal(waitEnd(agent(), 0), reason));
});

describe("afterRun (semantics 3)", () => {
  const twice = () => end(start(queueAll(resting(), ["a"]))).agent;
  const rows: [row: string, agent: () => Agent, afterRun: number, reason: WaitReason | undefined][] = [
    ["a rest reached by that run is ignored", resting, 1, undefined],
    ["a rest reached by an earlier run is ignored", resting, 5, undefined],
    ["a rest reached by a later run ends it", twice, 1, WaitReason.NEEDS_INPUT],
    ["0 ignores nothing", resting, 0, WaitReason.NEEDS_INPUT],
    [
      "0 ignores nothing, not even a rest before the first run",
      () => ({ ...resting(), runCount: 0 }),
      0,
      WaitReason.NEEDS_INPUT,
    ],
    [
      "an agent that has ended ends it all the same",
      () => end(done(running())).agent,
      9,
      WaitReason.COMPLETED,
    ],
  ];
  for (const [row, agent, afterRun, reason] of rows) {
    it(row, () => assert.equal(waitEnd(agent(), afterRun), reason));
  }
});

describe("waiting for one message (semantics 3)", () => {
  const record = (state: FollowUpState, runId = 0): FollowUpRecord => ({
    followUpId: "f",
    state,
    runId,
    fingerprint: "",
  });
  const { DEFERRED, QUEUED, DELIVERED, CLEARED, REMOVED } = FollowUpState;
  const held = () => start(queueAll(resting(), ["f"]));
  const rows: [row: string, agent: () => Agent, followUp: FollowUpRecord, reason: WaitReason | undefined][] =
    [
      ["still queued: goes on", () => queueAll(running(), ["f"]), record(QUEUED), undefined],
      ["still deferred: goes on", resting, record(DEFERRED), undefined],
      [
        "deferred, and the agent asks: goes on, the message comes by itself",
        () => end(ask(running())).agent,
        record(DEFERRED),
        undefined,
      ],
      ["its turn runs: goes on", held, record(DELIVERED, 2), undefined],
      [
        "its turn has ended: FOLLOW_UP_DONE",
        () => end(held()).agent,
        record(DELIVERED, 2),
        WaitReason.FOLLOW_UP_DONE,
      ],
      [
        "its turn has ended and the next runs: FOLLOW_UP_DONE",
        held,
        record(DELIVERED, 1),
        WaitReason.FOLLOW_UP_DONE,
      ],
      [
        "its turn has ended the agent: FOLLOW_UP_DONE",
        () => end(done(held())).agent,
        record(DELIVERED, 2),
        WaitReason.FOLLOW_UP_DONE,
      ],
      ["it was cleared: FOLLOW_UP_CLEARED", running, record(CLEARED), WaitReason.FOLLOW_UP_CLEARED],
      ["it was removed: FOLLOW_UP_CLEARED", running, record(REMOVED), WaitReason.FOLLOW_UP_CLEARED],
      ["the agent is STOPPING: goes on until CANCELED", stopping, record(DELIVERED, 1), undefined],
      [
        "it stays queued because the budget is spent: NEEDS_INPUT",
        broke,
        record(QUEUED),
        WaitReason.NEEDS_INPUT,
      ],
    ];
  for (const [row, agent, followUp, reason] of rows) {
    it(row, () => assert.equal(followUpWaitEnd(agent(), "f", followUp), reason));
  }
  it("never known: NOT_FOUND", () => {
    refuses(() => followUpWaitEnd(running(), "f", undefined), {
      code: Code.NOT_FOUND,
      reason: "FOLLOW_UP_NOT_FOUND",
      metadata: { followUpId: "f" },
    });
  });
});
