import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Phase, TurnOutcome, TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import { StopTurnMode } from "../../../gen/retinue/v1/agent_service_pb.js";
import type { Agent } from "../../../src/domain/agent/agent.js";
import { CUTS, type Cut } from "../../../src/domain/agent/interrupt.js";
import { killAgent, processesEnded } from "../../../src/domain/agent/kill.js";
import { stopTurn } from "../../../src/domain/agent/stop-turn.js";
import { promptSent } from "../../../src/domain/agent/turn-report.js";
import {
  at,
  done,
  end,
  fenceOf,
  idsOf,
  interrupting,
  lose,
  queueAll,
  recovering,
  refuses,
  resting,
  running,
  spawned,
  starting,
  stop,
  T0,
  typesOf,
  withChild,
} from "./fixtures.js";

const { INTERRUPT, KILL, UNSPECIFIED } = StopTurnMode;

describe("stop-turn is refused (interface 7; semantics 1, row 13)", () => {
  const canceled = () => processesEnded(killAgent(running(), "killed", at()).agent, at()).agent;
  const rows: [
    row: string,
    agent: () => Agent,
    runId: bigint,
    reason: string,
    phase: string,
    current: string,
  ][] = [
    ["runId omitted", running, 0n, "RUN_ID_REQUIRED", "PHASE_RUNNING", "1"],
    [
      "runId omitted, and no turn runs: the omission is told first",
      resting,
      0n,
      "RUN_ID_REQUIRED",
      "PHASE_WAITING_FOR_INPUT",
      "1",
    ],
    ["no turn runs, whatever the runId", resting, 1n, "NO_TURN_RUNNING", "PHASE_WAITING_FOR_INPUT", "1"],
    ["before the first run", spawned, 1n, "NO_TURN_RUNNING", "PHASE_PENDING", "0"],
    ["a terminal agent", canceled, 1n, "NO_TURN_RUNNING", "PHASE_CANCELED", "1"],
    [
      "a STOPPING agent",
      () => killAgent(running(), "killed", at()).agent,
      1n,
      "NO_TURN_RUNNING",
      "PHASE_STOPPING",
      "1",
    ],
    ["an older run", () => runTwo(), 1n, "RUN_ID_STALE", "PHASE_RUNNING", "2"],
    ["a run that is still to come", running, 2n, "RUN_ID_STALE", "PHASE_RUNNING", "1"],
    ["a negative runId", running, -1n, "RUN_ID_STALE", "PHASE_RUNNING", "1"],
    [
      "a runId beyond 2^53 is not rounded into the current one",
      running,
      2n ** 63n - 1n,
      "RUN_ID_STALE",
      "PHASE_RUNNING",
      "1",
    ],
  ];
  for (const [row, agent, runId, reason, phase, currentRunId] of rows) {
    it(row, () => {
      const metadata = { currentRunId, phase };
      refuses(() => stopTurn(agent(), { runId, mode: KILL }, at()), {
        code: Code.INVALID_ARGUMENT,
        reason,
        metadata,
      });
    });
  }
});

/** Run 2, STARTING. */
function runTwo(): Agent {
  return end(queueAll(running(), ["next"])).agent;
}

describe("what cuts a turn short (semantics 2: stop-turn, preempt, time-out, budget)", () => {
  const states: [TurnState, () => Agent][] = [
    [TurnState.STARTING, starting],
    [TurnState.RUNNING, running],
    [TurnState.INTERRUPTING, interrupting],
    [TurnState.RECOVERING, recovering],
  ];
  const rows: [row: string, state: TurnState, cut: Cut, effect: string][] = [
    ["STARTING + INTERRUPT: accepted, the prompt is not sent", TurnState.STARTING, "INTERRUPT", "end"],
    ["STARTING + KILL: the same", TurnState.STARTING, "KILL", "end"],
    ["STARTING + preempt: not cut", TurnState.STARTING, "PREEMPT", "leave"],
    ["STARTING + time-out: ends", TurnState.STARTING, "TIME_OUT", "end"],
    ["STARTING + budget: ends", TurnState.STARTING, "BUDGET", "end"],
    ["RUNNING + INTERRUPT: cancel", TurnState.RUNNING, "INTERRUPT", "cancel"],
    ["RUNNING + KILL: kill", TurnState.RUNNING, "KILL", "kill"],
    ["RUNNING + preempt: interrupted", TurnState.RUNNING, "PREEMPT", "cancel"],
    ["RUNNING + time-out: cancel", TurnState.RUNNING, "TIME_OUT", "cancel"],
    ["RUNNING + budget: cancel", TurnState.RUNNING, "BUDGET", "cancel"],
    ["INTERRUPTING + INTERRUPT: 200, nothing more", TurnState.INTERRUPTING, "INTERRUPT", "leave"],
    ["INTERRUPTING + KILL: escalates", TurnState.INTERRUPTING, "KILL", "kill"],
    ["INTERRUPTING + preempt: nothing more", TurnState.INTERRUPTING, "PREEMPT", "leave"],
    [
      "INTERRUPTING + time-out: an agent that ignores cancel is killed",
      TurnState.INTERRUPTING,
      "TIME_OUT",
      "kill",
    ],
    ["INTERRUPTING + budget: nothing more", TurnState.INTERRUPTING, "BUDGET", "leave"],
    ["RECOVERING + INTERRUPT: ends, no new attempt", TurnState.RECOVERING, "INTERRUPT", "end"],
    ["RECOVERING + KILL: the same", TurnState.RECOVERING, "KILL", "end"],
    ["RECOVERING + preempt: ended", TurnState.RECOVERING, "PREEMPT", "end"],
    ["RECOVERING + time-out: ends", TurnState.RECOVERING, "TIME_OUT", "end"],
    ["RECOVERING + budget: ends", TurnState.RECOVERING, "BUDGET", "end"],
  ];
  for (const [row, state, cut, effect] of rows) {
    it(row, () => assert.equal(CUTS[state as keyof typeof CUTS][cut], effect));
  }
  it("the table has no other rows", () => assert.equal(rows.length, Object.keys(CUTS).length * 5));

  for (const [state, make] of states) {
    for (const mode of [INTERRUPT, KILL]) {
      it(`${TurnState[state]} + ${StopTurnMode[mode]} is accepted and does what the table says`, () => {
        const agent = make();
        const { agent: next } = stop(agent, mode);
        const effect = CUTS[state as keyof typeof CUTS][mode === KILL ? "KILL" : "INTERRUPT"];
        if (effect === "leave") assert.equal(next.turn, agent.turn);
        if (effect === "cancel") assert.equal(next.turn?.interruption?.mode, INTERRUPT);
        if (effect === "kill") assert.equal(next.turn?.interruption?.mode, KILL);
        if (effect !== "end") return;
        assert.equal(next.turn, undefined);
        assert.equal(next.lastTurn?.outcome, mode === KILL ? TurnOutcome.KILLED : TurnOutcome.INTERRUPTED);
      });
    }
  }
});

describe("after stop-turn (semantics 1, rows 12 and 14; semantics 2)", () => {
  it("UNSPECIFIED is treated as INTERRUPT", () => {
    assert.deepEqual(stop(running(), UNSPECIFIED).agent.turn, stop(running(), INTERRUPT).agent.turn);
  });
  it("the answer is empty", () => assert.equal(stop(running(), INTERRUPT).reply, undefined));
  it("with nothing queued the agent rests WAITING_FOR_INPUT", () => {
    const { agent } = end(interrupting());
    assert.equal(agent.phase, Phase.WAITING_FOR_INPUT);
    assert.equal(agent.needsInput?.cause, "interrupted");
  });
  it("the queue goes on in the same commit", () => {
    const stopped = stop(queueAll(running(), ["a", "b"]), INTERRUPT).agent;
    const decision = end(stopped);
    assert.deepEqual(decision.agent.turn?.followUpIds, ["a"]);
    assert.deepEqual(typesOf(decision), ["TURN_ENDED", "TURN_STARTED", "FOLLOW_UP_DELIVERED"]);
  });
  it("children are untouched", () => {
    const { agent } = stop(withChild(running(), "c"), KILL);
    assert.equal(agent.children.length, 1);
    assert.equal(lose(agent, "failure").agent.children.length, 1);
  });
  it("a late end_turn after a stop is INTERRUPTED: the first commit wins", () => {
    const { agent } = end(interrupting(), { summary: "finished after all" });
    assert.equal(agent.lastTurn?.outcome, TurnOutcome.INTERRUPTED);
    assert.equal(agent.lastTurn?.summary, "finished after all");
  });
  it("a result declared before the stop does not make it COMPLETED", () => {
    const { agent } = end(stop(done(running()), INTERRUPT).agent);
    assert.equal(agent.phase, Phase.WAITING_FOR_INPUT);
  });
  it("a late end_turn after a KILL is KILLED and recovers no result", () => {
    const { agent } = end(stop(running(), KILL).agent, { summary: "finished after all" });
    assert.equal(agent.lastTurn?.outcome, TurnOutcome.KILLED);
    assert.equal(agent.lastTurn?.summary, "");
  });
  it("INTERRUPT then KILL ends as KILLED", () => {
    const { agent } = lose(stop(interrupting(), KILL).agent, "failure");
    assert.equal(agent.lastTurn?.outcome, TurnOutcome.KILLED);
  });
  it("there is no escalation by itself: an hour later it is still only a cancel", () => {
    assert.equal(interrupting().turn?.interruption?.killAtMs, undefined);
  });
  it("a second INTERRUPT changes nothing at all", () => {
    const agent = interrupting();
    const decision = stop(agent, INTERRUPT, at(T0 + 1));
    assert.equal(decision.agent, agent);
    assert.deepEqual(decision.events, []);
  });
  it("a turn stopped while STARTING never sends its prompt", () => {
    const agent = starting();
    const fence = fenceOf(agent);
    const next = stop(agent, INTERRUPT).agent;
    assert.deepEqual(promptSent(next, fence, at()).reply, { stale: true, send: false });
    assert.equal(next.runCount, 1);
  });
  it("a turn being interrupted sends no prompt either", () => {
    const agent = interrupting();
    assert.deepEqual(promptSent(agent, fenceOf(agent), at()).reply, { stale: false, send: false });
  });
  it("the message of a stopped run stays DELIVERED and is not run again", () => {
    const agent = stop(runTwo(), KILL).agent;
    assert.equal(agent.phase, Phase.WAITING_FOR_INPUT);
    assert.deepEqual(idsOf(agent.queued), []);
  });
  it("a stop while STARTING lets the queue go on at once", () => {
    const { agent } = stop(queueAll(starting(), ["a"]), INTERRUPT);
    assert.equal(agent.turn?.runId, 2);
    assert.deepEqual(agent.turn?.followUpIds, ["a"]);
  });
  it("a stop while STARTING gives the slot back where somebody waits for it", () => {
    const { agent } = stop(queueAll(starting(), ["a"]), INTERRUPT, at(T0, { slotWanted: true }));
    assert.equal(agent.phase, Phase.PENDING);
    assert.deepEqual(idsOf(agent.queued), ["a"]);
  });
});
