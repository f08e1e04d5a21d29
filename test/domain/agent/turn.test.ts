import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { IdlePolicy, Phase, TurnOutcome, TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import { StopTurnMode } from "../../../gen/retinue/v1/agent_service_pb.js";
import type { Agent } from "../../../src/domain/agent/agent.js";
import { NO_USAGE } from "../../../src/domain/agent/budget.js";
import { childHandedOver } from "../../../src/domain/agent/children.js";
import type { Decision, Reported } from "../../../src/domain/agent/decision.js";
import { DEFAULT_LIMITS } from "../../../src/domain/agent/limits.js";
import { gaveOutput, outputRefused } from "../../../src/domain/agent/output.js";
import { repoPushed } from "../../../src/domain/agent/repo-push.js";
import { slotGranted } from "../../../src/domain/agent/settle.js";
import { timePassed } from "../../../src/domain/agent/time-passed.js";
import type { Fence } from "../../../src/domain/agent/turn.js";
import { turnEnded } from "../../../src/domain/agent/turn-ended.js";
import { backOffMs, turnLost } from "../../../src/domain/agent/turn-loss.js";
import {
  askedInput,
  declaredDone,
  progressed,
  promptSent,
  runtimeReported,
} from "../../../src/domain/agent/turn-report.js";
import { usageReported } from "../../../src/domain/agent/usage-report.js";
import {
  ask,
  at,
  DAY,
  done,
  EXITED,
  end,
  fenceOf,
  followUp,
  followUpEvents,
  idsOf,
  interrupting,
  lose,
  platform,
  prompted,
  queue,
  queueAll,
  recovering,
  refuses,
  resting,
  running,
  sound,
  spawnDecision,
  spawned,
  start,
  starting,
  stop,
  T0,
  task,
  typesOf,
  withChild,
} from "./fixtures.js";

const later = (agent: Agent, ms: number) => sound(timePassed(agent, at(ms)));

describe("spawn and slot (semantics 2)", () => {
  it("spawn: PENDING, and the description is message 0, which is no follow-up", () => {
    const decision = spawnDecision();
    assert.equal(decision.agent.phase, Phase.PENDING);
    assert.deepEqual([decision.agent.queued, decision.agent.runCount], [[], 0]);
    assert.deepEqual(typesOf(decision), ["AGENT_SPAWNED"]);
  });
  it("slot granted: RUNNING/STARTING, runCount + 1, the fence taken", () => {
    const decision = sound(slotGranted(spawned(), at()));
    assert.deepEqual(decision.reply, { runId: 1, attempt: 1 });
    assert.equal(decision.agent.phase, Phase.RUNNING);
    assert.equal(decision.agent.turn?.state, TurnState.STARTING);
    assert.equal(decision.agent.runCount, 1);
    assert.deepEqual(typesOf(decision), ["PHASE_CHANGED", "TURN_STARTED"]);
  });
  it("run 1 carries message 0 alone, with no follow-up events, and the queue waits", () => {
    const decision = sound(slotGranted(queueAll(spawned(), ["a"]), at()));
    assert.deepEqual(followUpEvents(decision), []);
    assert.deepEqual(decision.agent.turn?.followUpIds, []);
    assert.deepEqual(idsOf(decision.agent.queued), ["a"]);
  });
  it("slot granted: message QUEUED→DELIVERED, once, here", () => {
    const agent = start(queueAll(resting(), ["a", "b"]));
    assert.deepEqual([agent.turn?.followUpIds, idsOf(agent.queued)], [["a"], ["b"]]);
  });
  it("a slot for an agent that has no use for it any more changes nothing", () => {
    for (const agent of [resting(), running()]) {
      const decision = slotGranted(agent, at());
      assert.deepEqual([decision.reply, decision.agent === agent], [undefined, true]);
    }
  });
  it("before startAt no turn starts, even with messages queued; at startAt it does", () => {
    const agent = queueAll(spawned({ startAtMs: T0 + 100 }), ["a"]);
    assert.equal(slotGranted(agent, at(T0 + 99)).reply, undefined);
    assert.deepEqual(slotGranted(agent, at(T0 + 100)).reply, { runId: 1, attempt: 1 });
  });
  it("startedAt is that of the first run", () => {
    const agent = end(queueAll(running(), ["a"]), {}, at(T0 + 5)).agent;
    assert.deepEqual([agent.startedAtMs, agent.turn?.startedAtMs], [T0, T0 + 5]);
  });
});

describe("turn ended (semantics 2)", () => {
  it("more QUEUED: the next run in the same commit, never visible as at rest", () => {
    const decision = end(queueAll(running(), ["a"]));
    assert.equal(decision.agent.phase, Phase.RUNNING);
    assert.equal(decision.agent.turn?.runId, 2);
    assert.deepEqual(typesOf(decision), ["TURN_ENDED", "TURN_STARTED", "FOLLOW_UP_DELIVERED"]);
  });
  it("more QUEUED, but others wait: the slot is yielded", () => {
    const decision = end(queueAll(running(), ["a"]), {}, at(T0, { slotWanted: true }));
    assert.equal(decision.agent.phase, Phase.PENDING);
    assert.deepEqual(typesOf(decision), ["TURN_ENDED", "PHASE_CHANGED"]);
  });
  it("a message that falls due at that very moment runs next", () => {
    const agent = queue(running(), followUp("d", { deliverAtMs: T0 + 5 })).agent;
    assert.deepEqual(end(agent, {}, at(T0 + 5)).agent.turn?.followUpIds, ["d"]);
  });
  it("it asked: WAITING_FOR_INPUT with the question", () => {
    const { agent } = end(ask(running(), "red or blue?"));
    assert.deepEqual(agent.needsInput, { cause: "question", text: "red or blue?" });
  });
  it("it declared the work done: COMPLETED, and the phase is the last event", () => {
    const decision = end(done(running(), "built"));
    assert.equal(decision.agent.phase, Phase.COMPLETED);
    assert.equal(decision.agent.endedAtMs, T0);
    assert.deepEqual(typesOf(decision), ["TURN_ENDED", "PHASE_CHANGED"]);
  });
  it("of ask and complete in one run the last word counts", () => {
    assert.equal(end(done(ask(running()))).agent.phase, Phase.COMPLETED);
    assert.equal(end(ask(done(running()))).agent.phase, Phase.WAITING_FOR_INPUT);
  });
  it("an empty question is refused", () => {
    const agent = running();
    refuses(() => askedInput(agent, { ...fenceOf(agent), question: " " }, at()), {
      code: Code.INVALID_ARGUMENT,
      reason: "INVALID_FIELD",
    });
  });
  it("what went wrong without ending it badly is noted", () => {
    const error = { kind: "max_tokens", message: "the model stopped at its limit", retryable: true };
    const { agent } = end(running(), { error });
    assert.deepEqual([agent.lastTurn?.error, agent.lastError], [error, error]);
  });
});

describe("the last word (semantics 2)", () => {
  it("stands through runs that carry only platform messages", () => {
    const asked = end(ask(running())).agent;
    const again = end(prompted(start(platform(asked, "p")))).agent;
    assert.equal(again.needsInput?.cause, "question");
    const withWork = withChild(done(running()), "c");
    const after = end(prompted(start(platform(end(withWork).agent, "p")))).agent;
    assert.equal(after.lastWord?.type, "complete");
  });
  it("falls when a caller's message is delivered, not when it is queued", () => {
    const queued = queueAll(end(ask(running())).agent, ["a"]);
    assert.equal(queued.lastWord?.type, "ask");
    const delivered = start(queued);
    assert.equal(delivered.lastWord, undefined);
    assert.equal(end(delivered).agent.needsInput?.cause, "plain-end");
  });
  it("a message taken back undelivered leaves the question standing", () => {
    const queued = queueAll(end(ask(running())).agent, ["a"]);
    const { agent } = later({ ...queued, queued: [] }, T0);
    assert.equal(agent.needsInput?.cause, "question");
  });
});

describe("losses (semantics 2)", () => {
  it("agent process or backend error: RECOVERING, attempt + 1, failures + 1, back-off 1 s", () => {
    const decision = lose(running(), "failure");
    const { turn, failures, phase } = decision.agent;
    assert.deepEqual(
      [phase, turn?.state, turn?.attempt, failures],
      [Phase.RUNNING, TurnState.RECOVERING, 2, 1],
    );
    assert.equal(turn?.retryAtMs, T0 + 1000);
    assert.deepEqual(typesOf(decision), ["RUNNER_LOST"]);
  });
  it("the back-off doubles from 1 s to at most 60 s", () => {
    const times = [1, 2, 3, 4, 5, 6, 7, 8, 50].map((n) => backOffMs(n, DEFAULT_LIMITS));
    assert.deepEqual(times, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });
  it("at 3 failures FAILED, messages CLEARED with the reason, queued and deferred", () => {
    let agent = queue(queueAll(running(), ["a"]), followUp("d", { deliverAtMs: T0 + DAY })).agent;
    agent = lose(lose(agent, "failure").agent, "failure").agent;
    assert.equal(agent.turn?.attempt, 3);
    const decision = lose(agent, "failure");
    assert.equal(decision.agent.phase, Phase.FAILED);
    assert.equal(decision.agent.lastTurn?.outcome, TurnOutcome.FAILED);
    assert.equal(decision.agent.lastError?.retryable, false);
    assert.deepEqual(followUpEvents(decision), ["FOLLOW_UP_CLEARED a", "FOLLOW_UP_CLEARED d"]);
    const cleared = decision.events.find(({ detail }) => detail.case === "followUp");
    assert.ok(
      cleared?.detail.case === "followUp" &&
        cleared.detail.value?.reason === "the agent failed: exited with 1",
    );
  });
  it("failures are of one turn: a turn that ended forgets them", () => {
    const agent = prompted(lose(lose(running(), "failure").agent, "failure").agent);
    assert.equal(end(queueAll(agent, ["a"])).agent.failures, 0);
  });
  it("a fatal error of set-up or backend: FAILED at once", () => {
    assert.equal(lose(starting(), "fatal").agent.phase, Phase.FAILED);
    assert.equal(lose(running(), "fatal").agent.phase, Phase.FAILED);
  });
  it("live descendants of a FAILED agent are to be stopped in the same commit", () => {
    assert.equal(lose(withChild(running(), "c"), "fatal").stopDescendants, true);
    assert.equal(lose(running(), "fatal").stopDescendants, false);
  });
  it("restart, drain, lease loss: RECOVERING at once, attempt + 1, not counted as failure", () => {
    const { turn, failures } = lose(running(), "outage").agent;
    assert.deepEqual(
      [turn?.state, turn?.attempt, turn?.retryAtMs, failures],
      [TurnState.RECOVERING, 2, T0, 0],
    );
  });
  it("a restart does not shorten a back-off", () => {
    const agent = lose(lose(running(), "failure").agent, "outage", at(T0 + 10)).agent;
    assert.equal(agent.turn?.retryAtMs, T0 + 1000);
  });
  it("bounded by 10 recoveries without progress: the eleventh is FAILED", () => {
    let agent = running();
    for (let i = 0; i < 10; i++) agent = lose(agent, "outage").agent;
    assert.equal(agent.phase, Phase.RUNNING);
    agent = lose(agent, "outage").agent;
    assert.deepEqual([agent.phase, agent.lastError?.kind], [Phase.FAILED, "no_progress"]);
  });
  it("a sign of life begins the count anew; a prompt sent is none", () => {
    let agent = running();
    for (let i = 0; i < 10; i++) agent = lose(agent, "outage").agent;
    assert.equal(prompted(agent).recoveries, 10);
    assert.equal(progressed(agent, fenceOf(agent), at()).agent.recoveries, 0);
  });
  it("loss while INTERRUPTING: the turn ends INTERRUPTED, with no new attempt", () => {
    for (const loss of ["failure", "outage", "fatal"] as const) {
      const { agent } = lose(interrupting(), loss);
      assert.deepEqual(
        [agent.lastTurn?.outcome, agent.phase],
        [TurnOutcome.INTERRUPTED, Phase.WAITING_FOR_INPUT],
      );
      assert.equal(agent.failures, 0);
    }
  });
  it("what was asked to stop and has stopped is not told as lost", () => {
    assert.deepEqual(typesOf(lose(interrupting(), "failure")), ["TURN_ENDED", "PHASE_CHANGED"]);
  });
  it("loss while STARTING recovers with the message still unsent", () => {
    const { agent } = lose(starting(), "outage");
    assert.deepEqual([agent.turn?.state, agent.turn?.promptSent], [TurnState.RECOVERING, false]);
  });
  it("the mark of a sent prompt survives the loss, and the next prompt makes the turn RUNNING again", () => {
    const agent = recovering();
    assert.equal(agent.turn?.promptSent, true);
    assert.deepEqual([prompted(agent).turn?.state, prompted(agent).turn?.attempt], [TurnState.RUNNING, 2]);
  });
  it("a restart or interrupt changes no task (semantics 5)", () => {
    const agent = running({ tasks: [task("t")] });
    assert.equal(lose(agent, "outage").agent.tasks, agent.tasks);
    assert.equal(end(stop(agent, StopTurnMode.INTERRUPT).agent).agent.tasks, agent.tasks);
  });
});

describe("time-outs (semantics 2 and 8)", () => {
  const { turnMs, silenceMs } = DEFAULT_LIMITS;
  it("silence for 15 minutes: cancel, kill 10 s later, outcome TIMED_OUT", () => {
    const agent = later(running(), T0 + silenceMs).agent;
    const { interruption } = agent.turn ?? {};
    assert.deepEqual(interruption, {
      cause: "time-out",
      mode: StopTurnMode.INTERRUPT,
      outcome: TurnOutcome.TIMED_OUT,
      killAtMs: T0 + silenceMs + 10_000,
    });
    assert.equal(end(agent).agent.lastTurn?.outcome, TurnOutcome.TIMED_OUT);
    assert.equal(lose(agent, "failure").agent.needsInput?.cause, "timed-out");
  });
  it("a millisecond earlier nothing happens", () => {
    const agent = running();
    assert.equal(later(agent, T0 + silenceMs - 1).agent, agent);
  });
  it("a sign of life puts the silence off", () => {
    const agent = running();
    const alive = progressed(agent, fenceOf(agent), at(T0 + silenceMs - 1)).agent;
    assert.equal(later(alive, T0 + silenceMs + 10).agent.turn?.state, TurnState.RUNNING);
  });
  it("a turn of 2 hours is cancelled, however lively", () => {
    const agent = running();
    const alive = progressed(agent, fenceOf(agent), at(T0 + turnMs - 1)).agent;
    assert.equal(later(alive, T0 + turnMs).agent.turn?.interruption?.cause, "time-out");
  });
  it("setting up may be silent, but not for longer than a turn", () => {
    const agent = starting();
    assert.equal(later(agent, T0 + silenceMs).agent.turn?.state, TurnState.STARTING);
    const { lastTurn, phase } = later(agent, T0 + turnMs).agent;
    assert.deepEqual([lastTurn?.outcome, phase], [TurnOutcome.TIMED_OUT, Phase.WAITING_FOR_INPUT]);
  });
  it("an agent that ignores a caller's cancel is killed by the time-out, and stays INTERRUPTED", () => {
    const agent = later(interrupting(), T0 + silenceMs).agent;
    assert.equal(agent.turn?.interruption?.mode, StopTurnMode.KILL);
    assert.equal(lose(agent, "failure").agent.lastTurn?.outcome, TurnOutcome.INTERRUPTED);
  });
  it("what is already being timed out or killed is left to it", () => {
    const cancelled = later(running(), T0 + silenceMs).agent;
    assert.equal(later(cancelled, T0 + turnMs).agent, cancelled);
    const killed = stop(running(), StopTurnMode.KILL).agent;
    assert.equal(later(killed, T0 + turnMs).agent, killed);
  });
  it("after a time-out the queue goes on", () => {
    const agent = later(queueAll(running(), ["a"]), T0 + silenceMs).agent;
    assert.deepEqual(lose(agent, "failure").agent.turn?.followUpIds, ["a"]);
  });
});

describe("fences: a late report changes nothing", () => {
  const usage = NO_USAGE;
  const reports: [string, (agent: Agent, fence: Fence) => Decision<Reported>][] = [
    ["prompt sent", (agent, fence) => promptSent(agent, fence, at())],
    ["progress", (agent, fence) => progressed(agent, fence, at())],
    ["runtime", (agent, fence) => runtimeReported(agent, { ...fence, runtime: agent.runtime }, at())],
    ["question", (agent, fence) => askedInput(agent, { ...fence, question: "?" }, at())],
    ["result", (agent, fence) => declaredDone(agent, { ...fence, result: "" }, at())],
    ["output", (agent, fence) => gaveOutput(agent, { ...fence, output: 1 }, at())],
    ["usage", (agent, fence) => usageReported(agent, { ...fence, usage }, at())],
    ["turn ended", (agent, fence) => turnEnded(agent, { ...fence, summary: "" }, at())],
    ["turn lost", (agent, fence) => turnLost(agent, { ...fence, loss: "failure", error: EXITED }, at())],
    [
      "push",
      (agent, fence) => repoPushed(agent, { ...fence, repo: "", branch: "", commit: "", files: [] }, at()),
    ],
    ["hand-over", (agent, fence) => childHandedOver(agent, { ...fence, childUid: "c", ended: true }, at())],
  ];
  const stale: [string, () => Agent, Fence][] = [
    ["of an older run", () => end(queueAll(running(), ["a"])).agent, { runId: 1, attempt: 1 }],
    ["of an older attempt", recovering, { runId: 1, attempt: 1 }],
    ["of a later attempt", running, { runId: 1, attempt: 2 }],
    ["when no turn is held", resting, { runId: 1, attempt: 1 }],
  ];
  for (const [report, make] of reports) {
    for (const [when, agent, fence] of stale) {
      it(`${report} ${when}`, () => {
        const before = agent();
        const decision = make(before, fence);
        assert.equal(decision.reply.stale, true);
        assert.equal(decision.agent, before);
        assert.deepEqual(decision.events, []);
      });
    }
    it(`${report} of the turn that is held is taken`, () => {
      const agent = running();
      assert.equal(make(agent, fenceOf(agent)).reply.stale, false);
    });
  }
});

describe("an end that nothing can have ended is late, too", () => {
  const rows: [string, () => Agent][] = [
    ["before the prompt was sent", starting],
    ["before a new attempt was prompted", recovering],
    ["before the reminder was sent", () => end(done(running({ tasks: [task("t")] }))).agent],
  ];
  for (const [row, agent] of rows) {
    it(row, () => {
      const before = agent();
      const decision = turnEnded(before, { ...fenceOf(before), summary: "" }, at());
      assert.deepEqual([decision.reply.stale, decision.agent === before], [true, true]);
    });
  }
});

describe("reminders of open tasks (semantics 5)", () => {
  const withTask = () => running({ tasks: [task("t"), task("u")] });
  it("open active tasks at complete: at most 3 reminders in the same run, then WAITING", () => {
    let agent = done(withTask());
    for (let n = 1; n <= 3; n++) {
      const decision = end(agent);
      assert.equal(decision.reply.next, "reminder");
      assert.deepEqual([decision.agent.turn?.runId, decision.agent.turn?.reminders], [1, n]);
      assert.equal(decision.agent.turn?.nudge?.text, "t, u");
      agent = prompted(decision.agent);
      assert.equal(agent.turn?.nudge, undefined);
    }
    const last = end(agent);
    assert.equal(last.reply.next, "ended");
    assert.deepEqual(last.agent.needsInput, { cause: "open-tasks", text: "tasks were left open: t, u" });
  });
  it("skipped when a message is QUEUED, which then runs", () => {
    const decision = end(queueAll(done(withTask()), ["a"]));
    assert.deepEqual([decision.reply.next, decision.agent.turn?.followUpIds], ["ended", ["a"]]);
  });
  it("a plain end under COMPLETE is reminded too: it would complete", () => {
    assert.equal(
      end(running({ idlePolicy: IdlePolicy.COMPLETE, tasks: [task("t")] })).reply.next,
      "reminder",
    );
  });
  it("a plain end under REST is not: the caller is told anyway", () => {
    assert.equal(end(withTask()).reply.next, "ended");
  });
  it("a question is not held up by open tasks", () => {
    assert.equal(end(ask(withTask())).reply.next, "ended");
  });
  it("a stop during reminders ends it", () => {
    const reminded = end(done(withTask())).agent;
    const stopped = stop(reminded, StopTurnMode.INTERRUPT).agent;
    assert.equal(stopped.turn?.nudge, undefined);
    assert.equal(end(stopped).agent.lastTurn?.outcome, TurnOutcome.INTERRUPTED);
  });
});

describe("output schema at the end of a turn (semantics 6)", () => {
  const withSchema = () => running({ outputSchema: '{"type":"object"}' });
  const give = (agent: Agent, output: number) => gaveOutput(agent, { ...fenceOf(agent), output }, at()).agent;
  const refuse = (agent: Agent, violation: string) =>
    outputRefused(agent, { ...fenceOf(agent), violation }, at()).agent;
  it("a refused output is not kept, and does not take the place of a valid one", () => {
    const { agent } = end(refuse(give(withSchema(), 7), "/a: required"));
    assert.deepEqual([agent.structuredOutput, agent.lastError], [7, undefined]);
  });
  it("the repair says what was wrong with the output that was refused", () => {
    assert.equal(end(refuse(withSchema(), "/a: required")).agent.turn?.nudge?.text, "/a: required");
  });
  it("an agent that will sleep on a live child owes no result yet; one that declares done does", () => {
    const parent = withChild(withSchema(), "kid");
    assert.deepEqual([end(parent).reply.next, end(parent).agent.phase], ["ended", Phase.SLEEPING]);
    assert.equal(end(done(parent)).reply.next, "repair");
  });
  it("a valid output is kept as the structured output", () => {
    const { agent } = end(give(withSchema(), 7));
    assert.deepEqual([agent.structuredOutput, agent.lastError], [7, undefined]);
  });
  it("a plain end without an output is repaired: never a silent pass", () => {
    assert.equal(end(withSchema()).reply.next, "repair");
  });
  it("at most 3 repair rounds in the same run, then WAITING with lastError: never an endless loop", () => {
    let agent = refuse(done(withSchema()), "/a: required");
    for (let n = 1; n <= 3; n++) {
      const decision = end(agent);
      assert.deepEqual([decision.reply.next, decision.agent.turn?.repairs], ["repair", n]);
      agent = prompted(decision.agent);
    }
    const { agent: next, reply } = end(agent);
    assert.equal(reply.next, "ended");
    assert.equal(next.needsInput?.cause, "schema");
    assert.deepEqual(next.lastError, { kind: "schema_mismatch", message: "/a: required", retryable: false });
    assert.equal(next.structuredOutput, undefined);
  });
  it("a repaired output passes", () => {
    const repaired = give(prompted(end(done(withSchema())).agent), 8);
    assert.equal(end(repaired).agent.phase, Phase.COMPLETED);
  });
  it("a question is not validated", () => {
    assert.equal(end(ask(withSchema())).reply.next, "ended");
  });
  it("a question that stands is not repaired away by a platform message", () => {
    const asked = end(ask(withSchema())).agent;
    const again = end(start(platform(asked, "p")));
    assert.deepEqual([again.reply.next, again.agent.needsInput?.cause], ["ended", "question"]);
  });
  it("a run of platform messages may leave it at the valid output of the run before", () => {
    const { agent } = end(give(withSchema(), 7));
    const again = end(start(platform(agent, "p")));
    assert.deepEqual([again.reply.next, again.agent.structuredOutput], ["ended", 7]);
  });
  it("a turn that is over its budget gets no repair and no reminder", () => {
    const budget = { maxCostUsd: 1, maxTokens: undefined, maxTurns: undefined, maxWallTimeMs: undefined };
    const usage = { ...NO_USAGE, cost: 2 };
    const { agent, reply } = end(running({ outputSchema: "{}", budget }), { usage });
    assert.deepEqual([reply.next, agent.lastTurn?.outcome], ["ended", TurnOutcome.OVER_BUDGET]);
  });
  it("an interrupted turn is not validated", () => {
    assert.equal(end(stop(withSchema(), StopTurnMode.INTERRUPT).agent).reply.next, "ended");
  });
  it("a caller's next message forgets the result of the one before", () => {
    const { agent } = end(give(withSchema(), 7));
    assert.equal(start(queueAll(agent, ["a"])).structuredOutput, undefined);
  });
  it("without a schema an output is kept as it is", () => {
    assert.equal(end(give(running(), 7)).agent.structuredOutput, 7);
  });
});

describe("what a runner reports", () => {
  it("runtime tells what the agent can do", () => {
    const agent = running({ capabilities: [] });
    const runtime = { runnerId: "r", build: "b", capabilities: ["deferral"], isolation: "bwrap" };
    const next = runtimeReported(agent, { ...fenceOf(agent), runtime }, at()).agent;
    assert.equal(queue(next, followUp("d", { deliverAtMs: T0 + 1 })).reply.added, true);
  });
  it("usage adds up in the turn and in the agent, and sums that go down count nothing (semantics 1, row 19)", () => {
    const used = { inputTokens: 10, cachedInputTokens: 5, outputTokens: 1, cost: 0.5 };
    let agent = running();
    agent = usageReported(agent, { ...fenceOf(agent), usage: used }, at()).agent;
    agent = usageReported(
      agent,
      { ...fenceOf(agent), usage: { ...used, cost: -1, inputTokens: Number.NaN } },
      at(),
    ).agent;
    assert.deepEqual(agent.usage, { inputTokens: 10, cachedInputTokens: 10, outputTokens: 2, cost: 0.5 });
    const next = end(agent, { usage: used }).agent;
    assert.deepEqual(next.lastTurn?.usage, {
      inputTokens: 20,
      cachedInputTokens: 15,
      outputTokens: 3,
      cost: 1,
    });
  });
});
