import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { IdlePolicy, Phase, TurnOutcome } from "../../../gen/retinue/v1/agent_pb.js";
import type { Agent, Child } from "../../../src/domain/agent/agent.js";
import { NOTHING_SPENT } from "../../../src/domain/agent/budget.js";
import { restOf } from "../../../src/domain/agent/rest.js";
import type { EndedTurn } from "../../../src/domain/agent/turn.js";
import { at, followUp, queue, queueAll, resting, spawned, T0 } from "./fixtures.js";

const { PENDING, SLEEPING, WAITING_FOR_INPUT, COMPLETED } = Phase;

const rested = resting();
const queuedOne = queueAll(rested, ["a"]).queued;
const deferredOne = queue(rested, followUp("d", { deliverAtMs: T0 + 1 })).agent.deferred;
const child: Child = {
  uid: "root.c",
  name: "c",
  waitsFor: undefined,
  budget: undefined,
  spent: NOTHING_SPENT,
  reserved: NOTHING_SPENT,
};
const waitingChild: Child = { ...child, waitsFor: "which?" };
const budget = { maxCostUsd: undefined, maxTokens: undefined, maxTurns: 1, maxWallTimeMs: undefined };
const asked = { type: "ask", question: "which one?" } as const;
const complete = { type: "complete", result: "ok" } as const;

function ended(outcome: TurnOutcome, shortfall?: EndedTurn["shortfall"]): Partial<Agent> {
  return { lastTurn: { ...(rested.lastTurn as EndedTurn), outcome, shortfall } };
}

/** Each row: the agent differs from one that has ended a turn plainly in this. */
const ROWS: [row: string, differs: Partial<Agent>, phase: Phase, cause?: string][] = [
  ["1: something QUEUED is PENDING", { queued: queuedOne }, PENDING],
  ["1: message 0 not yet run is PENDING", { runCount: 0, lastTurn: undefined }, PENDING],
  ["1: QUEUED wins over a question", { queued: queuedOne, lastWord: asked }, PENDING],
  [
    "1: QUEUED wins over an interrupted turn",
    { queued: queuedOne, ...ended(TurnOutcome.INTERRUPTED) },
    PENDING,
  ],
  ["1: QUEUED wins over a declared result", { queued: queuedOne, lastWord: complete }, PENDING],
  [
    "1: with the budget spent QUEUED messages wait",
    { queued: queuedOne, budget },
    WAITING_FOR_INPUT,
    "budget",
  ],
  [
    "1: a spent budget above holds them as well",
    { queued: queuedOne, overdrawnBy: "top" },
    WAITING_FOR_INPUT,
    "budget",
  ],
  ["1: an empty queue makes a spent budget no reason", { budget }, WAITING_FOR_INPUT, "plain-end"],
  ["2: it asked", { lastWord: asked }, WAITING_FOR_INPUT, "question"],
  ["2: it asked, and a child lives", { lastWord: asked, children: [child] }, WAITING_FOR_INPUT, "question"],
  [
    "2: it asked, and a message is deferred",
    { lastWord: asked, deferred: deferredOne },
    WAITING_FOR_INPUT,
    "question",
  ],
  ["2: the last turn was interrupted", ended(TurnOutcome.INTERRUPTED), WAITING_FOR_INPUT, "interrupted"],
  ["2: the last turn was killed", ended(TurnOutcome.KILLED), WAITING_FOR_INPUT, "killed"],
  ["2: the last turn timed out", ended(TurnOutcome.TIMED_OUT), WAITING_FOR_INPUT, "timed-out"],
  ["2: the last turn went over budget", ended(TurnOutcome.OVER_BUDGET), WAITING_FOR_INPUT, "budget"],
  [
    "2: the last turn failed its schema",
    ended(TurnOutcome.COMPLETED, { cause: "schema", text: "bad" }),
    WAITING_FOR_INPUT,
    "schema",
  ],
  [
    "2: the last turn left active tasks open",
    ended(TurnOutcome.COMPLETED, { cause: "open-tasks", text: "a" }),
    WAITING_FOR_INPUT,
    "open-tasks",
  ],
  [
    "2: an interrupted turn wins over the result declared before",
    { ...ended(TurnOutcome.INTERRUPTED), lastWord: complete },
    WAITING_FOR_INPUT,
    "interrupted",
  ],
  ["3: a live child", { children: [child] }, SLEEPING],
  ["3: a deferred message", { deferred: deferredOne }, SLEEPING],
  ["3: a live child wins over a declared result", { children: [child], lastWord: complete }, SLEEPING],
  ["3: one child that moves is enough", { children: [waitingChild, child] }, SLEEPING],
  [
    "3: children that all wait are told to the caller",
    { children: [waitingChild] },
    WAITING_FOR_INPUT,
    "child",
  ],
  [
    "3: so are they for an agent that has declared done, whom no news reach",
    { children: [waitingChild], lastWord: complete },
    WAITING_FOR_INPUT,
    "child",
  ],
  ["3: a deferred message will wake it first", { children: [waitingChild], deferred: deferredOne }, SLEEPING],
  ["4: it declared the work done", { lastWord: complete }, COMPLETED],
  ["4: a plain end under COMPLETE", { idlePolicy: IdlePolicy.COMPLETE }, COMPLETED],
  ["5: a plain end under REST", {}, WAITING_FOR_INPUT, "plain-end"],
];

describe("rest (semantics 2)", () => {
  for (const [row, differs, phase, cause] of ROWS) {
    it(row, () => {
      const rest = restOf({ ...rested, ...differs }, T0);
      assert.equal(Phase[rest.phase], Phase[phase]);
      assert.equal(rest.needsInput?.cause, cause);
    });
  }

  it("needsInput is the question itself", () => {
    assert.equal(restOf({ ...rested, lastWord: asked }, T0).needsInput?.text, "which one?");
  });
  it("a root rests by default, a child completes", () => {
    assert.equal(spawned().idlePolicy, IdlePolicy.REST);
    assert.equal(spawned({ path: ["root", "c"] }).idlePolicy, IdlePolicy.COMPLETE);
    assert.equal(spawned({ path: ["root", "c"], idlePolicy: IdlePolicy.REST }).idlePolicy, IdlePolicy.REST);
  });
  it("a message deferred by an agent that rests plainly puts it to sleep, and removing it wakes its caller", () => {
    const slept = queue(rested, followUp("d", { deliverAtMs: T0 + 5 }), at()).agent;
    assert.equal(slept.phase, SLEEPING);
  });
});
