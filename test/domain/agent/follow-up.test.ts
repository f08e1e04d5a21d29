import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Phase, TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import type { Agent } from "../../../src/domain/agent/agent.js";
import {
  type FollowUpRecord,
  type FollowUpRequest,
  followUpFingerprint,
} from "../../../src/domain/agent/follow-up.js";
import { killAgent, processesEnded } from "../../../src/domain/agent/kill.js";
import { queuePlatformMessage } from "../../../src/domain/agent/platform-message.js";
import { clearFollowUps, removeFollowUp } from "../../../src/domain/agent/queue-edit.js";
import { timePassed } from "../../../src/domain/agent/time-passed.js";
import {
  at,
  DAY,
  end,
  followUp,
  followUpEvents,
  idsOf,
  interrupting,
  lose,
  persona,
  platform,
  queue,
  queueAll,
  type Refusal,
  recovering,
  refuses,
  resting,
  running,
  sound,
  spawned,
  start,
  starting,
  T0,
  task,
  typesOf,
} from "./fixtures.js";

const { QUEUED, DELIVERED, CLEARED, REMOVED } = FollowUpState;

const stopping = () => killAgent(running(), "killed", at()).agent;
const canceled = () => processesEnded(stopping(), at()).agent;
const deferredTo = (ms: number) => followUp("d", { deliverAtMs: ms });
const remove = (agent: Agent, id: string, context = at()) => sound(removeFollowUp(agent, id, context));
const clear = (agent: Agent, context = at()) => sound(clearFollowUps(agent, context));
const later = (agent: Agent, ms: number) => sound(timePassed(agent, at(ms)));

describe("follow-up states (interface 3.3)", () => {
  it("deferred, time reaches deliverAt: QUEUED, and it wakes a sleeping agent like a fresh one", () => {
    const slept = queue(resting(), deferredTo(T0 + 10)).agent;
    assert.equal(slept.phase, Phase.SLEEPING);
    assert.equal(later(slept, T0 + 9).agent, slept);
    const woken = later(slept, T0 + 10);
    assert.deepEqual(followUpEvents(woken), ["FOLLOW_UP_QUEUED d"]);
    assert.equal(woken.agent.phase, Phase.PENDING);
    assert.deepEqual(idsOf(woken.agent.queued), ["d"]);
  });
  it("new, queue-add without deliverAt while running: QUEUED, and the ID is returned", () => {
    const { reply, agent } = queue(running(), followUp("a"));
    assert.deepEqual(reply, {
      followUpId: "a",
      state: QUEUED,
      position: 1,
      added: true,
      clearedIds: [],
      interruptedRunId: 0,
    });
    assert.deepEqual(idsOf(agent.queued), ["a"]);
  });
  it("without an ID of its own a message has the minted one", () => {
    assert.equal(queue(running(), followUp("")).reply.followUpId, "minted");
  });
  it("QUEUED, delivery: DELIVERED, and the timeline records it", () => {
    const decision = end(queueAll(running(), ["a"]));
    assert.deepEqual(followUpEvents(decision), ["FOLLOW_UP_DELIVERED a"]);
    assert.deepEqual(decision.agent.turn?.followUpIds, ["a"]);
  });
  it("QUEUED, clear-follow-ups: CLEARED, and the timeline records it", () => {
    const decision = clear(queueAll(running(), ["a", "b"]));
    assert.deepEqual(decision.reply, { cleared: 2 });
    assert.deepEqual(followUpEvents(decision), ["FOLLOW_UP_CLEARED a", "FOLLOW_UP_CLEARED b"]);
  });
  it("QUEUED, preempt on queue-add: CLEARED, and the timeline records it", () => {
    const decision = queue(queueAll(running(), ["a", "b"]), followUp("p", { preempt: true }));
    assert.deepEqual(followUpEvents(decision), [
      "FOLLOW_UP_CLEARED a",
      "FOLLOW_UP_CLEARED b",
      "FOLLOW_UP_QUEUED p",
    ]);
    assert.deepEqual(decision.reply.clearedIds, ["a", "b"]);
    assert.equal(decision.reply.interruptedRunId, 1);
  });
  it("QUEUED, queue-remove: removed", () => {
    const decision = remove(queueAll(running(), ["a", "b"]), "a");
    assert.deepEqual(decision.reply, { removed: true });
    assert.deepEqual(followUpEvents(decision), ["FOLLOW_UP_REMOVED a"]);
    assert.deepEqual(idsOf(decision.agent.queued), ["b"]);
  });
  it("deferred, queue-remove: removed", () => {
    const decision = remove(queue(running(), deferredTo(T0 + 1)).agent, "d");
    assert.deepEqual(decision.reply, { removed: true });
    assert.deepEqual(decision.agent.deferred, []);
  });
  const never: [string, () => Agent][] = [
    ["already delivered", () => end(queueAll(running(), ["a"])).agent],
    ["already removed", () => remove(queueAll(running(), ["a"]), "a").agent],
    ["already cleared", () => clear(queueAll(running(), ["a"])).agent],
    ["never queued", running],
    ["on a terminal agent", canceled],
  ];
  for (const [row, agent] of never) {
    it(`queue-remove of a message ${row}: removed is false, and nothing changes`, () => {
      const before = agent();
      const decision = remove(before, "a");
      assert.deepEqual(decision.reply, { removed: false });
      assert.equal(decision.agent, before);
    });
  }
  it("clear on a terminal agent: 0 (semantics 1, row 14)", () => {
    assert.deepEqual(clear(canceled()).reply, { cleared: 0 });
  });
  it("clear with nothing queued: 0", () => assert.deepEqual(clear(running()).reply, { cleared: 0 }));
});

describe("queue-add is refused (interface 7 and 8)", () => {
  const INVALID = Code.INVALID_ARGUMENT;
  const onB = () => running({ model: "gpt-5" });
  const old = () => running({ capabilities: [] });
  const many =
    (count: number, more: (i: number) => Partial<FollowUpRequest> = () => ({})) =>
    () =>
      Array.from({ length: count }, (_, i) => i).reduce(
        (agent, i) => queue(agent, followUp(`m${i}`, more(i))).agent,
        running(),
      );
  const big = "x".repeat(256 * 1024 + 1);
  const rows: [row: string, agent: () => Agent, request: Partial<FollowUpRequest>, refusal: Refusal][] = [
    ["the agent has ended", canceled, {}, { code: Code.NOT_FOUND, reason: "AGENT_TERMINAL" }],
    ["the agent is STOPPING", stopping, {}, { code: Code.NOT_FOUND, reason: "AGENT_STOPPING" }],
    [
      "a model on another backend",
      running,
      { model: "gpt-5" },
      { code: INVALID, reason: "CROSS_BACKEND", field: "model" },
    ],
    [
      "a model that no rule knows",
      running,
      { model: "nobody" },
      { code: INVALID, reason: "MODEL_UNKNOWN", field: "model" },
    ],
    [
      "an effort that does not exist",
      running,
      { reasoningEffort: "huge" },
      { code: INVALID, reason: "EFFORT_INVALID" },
    ],
    [
      "an effort of the other backend",
      running,
      { reasoningEffort: "none" },
      { code: INVALID, reason: "EFFORT_INVALID" },
    ],
    [
      "backend A's max on backend B",
      onB,
      { reasoningEffort: "max" },
      { code: INVALID, reason: "EFFORT_INVALID" },
    ],
    ["a tier on backend A", running, { serviceTier: "fast" }, { code: INVALID, reason: "TIER_INVALID" }],
    [
      "a tier outside standard, fast, flex",
      onB,
      { serviceTier: "slow" },
      { code: INVALID, reason: "TIER_INVALID" },
    ],
    [
      "deliverAt on a build without deferral",
      old,
      { deliverAtMs: T0 + 1 },
      { code: Code.FAILED_PRECONDITION, reason: "DEFERRAL_UNSUPPORTED" },
    ],
    ["deliverAt now", running, { deliverAtMs: T0 }, { code: INVALID, reason: "DELIVER_AT_NOT_FUTURE" }],
    [
      "deliverAt in the past",
      running,
      { deliverAtMs: T0 - 1 },
      { code: INVALID, reason: "DELIVER_AT_NOT_FUTURE" },
    ],
    [
      "deliverAt that is no time",
      running,
      { deliverAtMs: Number.NaN },
      { code: INVALID, reason: "DELIVER_AT_NOT_FUTURE" },
    ],
    [
      "deliverAt more than 30 days out",
      running,
      { deliverAtMs: T0 + 30 * DAY + 1 },
      { code: INVALID, reason: "DELIVER_AT_TOO_FAR" },
    ],
    [
      "deliverAt with preempt",
      running,
      { deliverAtMs: T0 + 1, preempt: true },
      { code: INVALID, reason: "DELIVER_AT_WITH_PREEMPT" },
    ],
    [
      "an unknown persona",
      running,
      { agent: "nobody" },
      { code: INVALID, reason: "PERSONA_NOT_FOUND", field: "agent" },
    ],
    [
      "an ID of 129 characters",
      running,
      { followUpId: "x".repeat(129) },
      { code: INVALID, reason: "FIELD_TOO_LONG" },
    ],
    ["a message over 256 KiB", running, { description: big }, { code: INVALID, reason: "FIELD_TOO_LONG" }],
    ["a schema over 64 KiB", running, { outputSchema: big }, { code: INVALID, reason: "FIELD_TOO_LONG" }],
    [
      "a message that says nothing",
      running,
      { description: " " },
      { code: INVALID, reason: "FIELD_REQUIRED" },
    ],
    ["the 101st queued message", many(100), {}, { code: Code.RESOURCE_EXHAUSTED, reason: "QUEUE_FULL" }],
    [
      "the 51st deferred message",
      many(50, (i) => ({ deliverAtMs: T0 + 1 + i })),
      { deliverAtMs: T0 + 5 },
      { code: Code.RESOURCE_EXHAUSTED, reason: "DEFERRED_FULL" },
    ],
  ];
  for (const [row, agent, request, refusal] of rows) {
    it(row, () => refuses(() => queue(agent(), followUp("new", request)), refusal));
  }
  const accepted: [row: string, agent: () => Agent, request: Partial<FollowUpRequest>][] = [
    ["deliverAt one millisecond ahead", running, { deliverAtMs: T0 + 1 }],
    ["deliverAt exactly 30 days ahead", running, { deliverAtMs: T0 + 30 * DAY }],
    ["a message to a resting agent", resting, {}],
    ["a message to an agent that has not run yet", spawned, {}],
    ["a preempt on a full queue, which it empties", many(100), { preempt: true }],
    ["a deferred message on a full queue", many(100), { deliverAtMs: T0 + 1 }],
    ["an ID of 128 characters", running, { followUpId: "x".repeat(128) }],
    ["only tasks and no words", running, { description: "", tasks: [task("t")] }],
    ["fast mode on either backend", onB, { fastMode: true }],
  ];
  for (const [row, agent, request] of accepted) {
    it(`accepted: ${row}`, () => assert.equal(queue(agent(), followUp("new", request)).reply.added, true));
  }
  it("news of children do not count towards the limit", () => {
    const agent = many(99)();
    const news = {
      ...agent.queued[0],
      origin: "child",
      followUpId: "news",
      place: 1000,
    } as (typeof agent.queued)[0];
    const full = { ...agent, queued: [...agent.queued, news], counters: { ...agent.counters, places: 1000 } };
    assert.equal(queue(full, followUp("new")).reply.added, true);
  });
});

describe("clear and preempt touch QUEUED messages only (semantics 1, row 9)", () => {
  const both = () => queue(queueAll(running(), ["a"]), deferredTo(T0 + 10)).agent;
  it("clear leaves deferred ones", () => {
    const { agent, reply } = clear(both());
    assert.deepEqual([reply.cleared, idsOf(agent.queued), idsOf(agent.deferred)], [1, [], ["d"]]);
  });
  it("preempt leaves deferred ones", () => {
    const { agent } = queue(both(), followUp("p", { preempt: true }));
    assert.deepEqual([idsOf(agent.queued), idsOf(agent.deferred)], [["p"], ["d"]]);
  });
  it("one that is due is QUEUED, and is cleared like the rest: every decision first promotes what is due", () => {
    const decision = clear(both(), at(T0 + 10));
    assert.deepEqual(followUpEvents(decision), [
      "FOLLOW_UP_QUEUED d",
      "FOLLOW_UP_CLEARED a",
      "FOLLOW_UP_CLEARED d",
    ]);
  });
});

describe("the same followUpId twice (semantics 1, row 10)", () => {
  const request = followUp("a", { description: "once", tasks: [task("t1")] });
  const record = (state: FollowUpState): FollowUpRecord => ({
    followUpId: "a",
    state,
    fingerprint: followUpFingerprint(request),
    runId: state === DELIVERED ? 2 : 0,
  });
  const again = (agent: Agent, existing?: FollowUpRecord, context = at(), asked = request) =>
    queue(agent, asked, context, { existing });

  it("same request while QUEUED: same ID, nothing added", () => {
    const { agent } = queue(queueAll(running(), ["first"]), request);
    const decision = again(agent);
    assert.equal(decision.agent, agent);
    assert.deepEqual(decision.events, []);
    assert.deepEqual(
      [decision.reply.added, decision.reply.state, decision.reply.position],
      [false, QUEUED, 2],
    );
  });
  it("same request with preempt: nothing preempted again", () => {
    const preempting = followUp("p", { preempt: true });
    const agent = queueAll(queue(running(), preempting).agent, ["b"]);
    const decision = queue(agent, preempting);
    assert.equal(decision.agent, agent);
    assert.deepEqual([decision.reply.clearedIds, decision.reply.interruptedRunId], [[], 0]);
  });
  it("same request when its deliverAt has passed since: still 200, and it is QUEUED by now", () => {
    const asked = deferredTo(T0 + 5);
    const { agent } = queue(running(), asked);
    const decision = queue(agent, asked, at(T0 + 50));
    assert.deepEqual(
      [decision.reply.added, decision.reply.state, decision.reply.position],
      [false, QUEUED, 1],
    );
  });
  it("same request once DELIVERED: 200, where it stands now", () => {
    assert.deepEqual(again(running(), record(DELIVERED)).reply.state, DELIVERED);
  });
  it("same request once CLEARED: 200, taken for good", () => {
    assert.deepEqual(again(running(), record(CLEARED)).reply.added, false);
  });
  it("same request on an agent that has ended: 200, because the ID is looked up before every other check", () => {
    assert.deepEqual(again(canceled(), record(CLEARED)).reply.state, CLEARED);
    assert.deepEqual(again(stopping(), record(DELIVERED)).reply.state, DELIVERED);
  });
  it("free again after queue-remove, with any content", () => {
    const decision = again(running(), record(REMOVED), at(), followUp("a", { description: "re-armed" }));
    assert.equal(decision.reply.added, true);
  });
  const others: [string, Partial<FollowUpRequest>][] = [
    ["another description", { description: "twice" }],
    ["other tasks", { tasks: [task("t2")] }],
    ["another persona", { agent: "p" }],
    ["another schema", { outputSchema: "{}" }],
    ["another model", { model: "opus" }],
    ["another effort", { reasoningEffort: "low" }],
    ["another tier", { serviceTier: "fast" }],
    ["fast mode said false instead of left out", { fastMode: false }],
    ["preempt", { preempt: true }],
    ["another deliverAt", { deliverAtMs: T0 + 1 }],
    ["content that would be refused anyway", { deliverAtMs: T0 - 1 }],
  ];
  for (const [row, differs] of others) {
    it(`other content is ALREADY_EXISTS: ${row}`, () => {
      for (const agent of [running(), canceled()]) {
        refuses(() => again(agent, record(DELIVERED), at(), { ...request, ...differs }), {
          code: Code.ALREADY_EXISTS,
          reason: "FOLLOW_UP_ID_TAKEN",
        });
      }
    });
  }
});

describe("how many messages a turn takes (semantics 1, row 11)", () => {
  const deliveries = (agent: Agent): string[][] => {
    const turns: string[][] = [];
    let next = agent;
    for (let turn = 0; next.queued.length > 0 && turn < 20; turn++) {
      next = end(next).agent;
      turns.push([...(next.turn?.followUpIds ?? [])]);
    }
    return turns;
  };
  it("first in, first out, one caller message per turn", () => {
    assert.deepEqual(deliveries(queueAll(running(), ["a", "b", "c"])), [["a"], ["b"], ["c"]]);
  });
  it("adjacent platform messages form one delivery batch, and a caller's message ends it", () => {
    let agent = platform(platform(running(), "p1"), "p2");
    agent = platform(platform(queueAll(agent, ["a"]), "p3"), "p4");
    assert.deepEqual(deliveries(agent), [["p1", "p2"], ["a"], ["p3", "p4"]]);
  });
  it("tasks with the same dedupKey in a batch: the first wins", () => {
    const agent = end(platform(platform(running(), "p1", ["k1", "k2"]), "p2", ["k2", "k3"])).agent;
    assert.deepEqual(
      agent.tasks.map(({ dedupKey, subject }) => `${subject} ${dedupKey}`),
      ["p1 k1", "p1 k2", "p2 k3"],
    );
  });
  it("a platform message that comes again adds nothing, queued or delivered", () => {
    const message = { followUpId: "p1", description: "a review", tasks: [] };
    const queued = platform(running(), "p1");
    const again = queuePlatformMessage(queued, { message, existing: undefined }, at());
    assert.deepEqual([again.reply.added, again.agent === queued], [false, true]);
    const existing = { followUpId: "p1", state: DELIVERED, fingerprint: "", runId: 2 };
    assert.equal(queuePlatformMessage(end(queued).agent, { message, existing }, at()).reply.added, false);
  });
  it("a platform message counts against the tasks of the agent", () => {
    const comment = { subject: "s", description: "", dedupKey: "", ephemeral: true };
    const message = { followUpId: "p2", description: "", tasks: [comment, comment] };
    const limits = { ...at().limits, tasks: 2 };
    const agent = platform(running(), "p1", ["k"]);
    refuses(() => queuePlatformMessage(agent, { message, existing: undefined }, { ...at(), limits }), {
      code: Code.RESOURCE_EXHAUSTED,
      reason: "TASKS_FULL",
    });
  });
  it("the same dedupKey in another batch is another task", () => {
    const agent = platform(queueAll(platform(running(), "p1", ["k"]), ["a"]), "p2", ["k"]);
    const second = end(end(end(agent).agent).agent).agent;
    assert.deepEqual(
      second.tasks.map(({ subject }) => subject),
      ["p2"],
    );
  });
  it("deferred messages join by (deliverAt, arrival) behind what is queued", () => {
    let agent = queue(running(), followUp("late", { deliverAtMs: T0 + 20 })).agent;
    agent = queue(agent, followUp("soon1", { deliverAtMs: T0 + 10 })).agent;
    agent = queue(agent, followUp("soon2", { deliverAtMs: T0 + 10 })).agent;
    agent = queueAll(agent, ["a"]);
    assert.deepEqual(idsOf(later(agent, T0 + 30).agent.queued), ["a", "soon1", "soon2", "late"]);
  });
});

describe("preempt (semantics 2)", () => {
  const preempting = followUp("p", { preempt: true });
  it("STARTING: not cut; the message is next", () => {
    const decision = queue(queueAll(starting(), ["a"]), preempting);
    assert.equal(decision.agent.turn?.state, TurnState.STARTING);
    assert.deepEqual([decision.reply.clearedIds, decision.reply.interruptedRunId], [["a"], 0]);
    assert.deepEqual(end(decision.agent).agent.turn?.followUpIds, ["p"]);
  });
  it("RUNNING: interrupted; the message is next", () => {
    const decision = queue(queueAll(running(), ["a"]), preempting);
    assert.equal(decision.agent.turn?.state, TurnState.INTERRUPTING);
    assert.equal(decision.reply.interruptedRunId, 1);
    assert.deepEqual(end(decision.agent).agent.turn?.followUpIds, ["p"]);
  });
  it("RECOVERING: ended; the message runs in the same commit", () => {
    const decision = queue(queueAll(recovering(), ["a"]), preempting);
    assert.equal(decision.reply.interruptedRunId, 1);
    assert.deepEqual(decision.agent.turn?.followUpIds, ["p"]);
    assert.deepEqual(typesOf(decision), [
      "FOLLOW_UP_CLEARED",
      "TURN_ENDED",
      "FOLLOW_UP_QUEUED",
      "TURN_STARTED",
      "FOLLOW_UP_DELIVERED",
    ]);
  });
  it("INTERRUPTING: nothing more is interrupted; the message is next", () => {
    const decision = queue(queueAll(interrupting(), ["a"]), preempting);
    assert.equal(decision.reply.interruptedRunId, 0);
    assert.deepEqual(lose(decision.agent, "failure").agent.turn?.followUpIds, ["p"]);
  });
  it("an idle agent: the queue is cleared and the message runs as the next turn", () => {
    const decision = queue(resting(), preempting);
    assert.equal(decision.agent.phase, Phase.PENDING);
    assert.deepEqual(start(decision.agent).turn?.followUpIds, ["p"]);
  });
  it("message 0 runs as run 1 even after a preempt", () => {
    const first = start(queue(queueAll(spawned(), ["a"]), preempting).agent);
    assert.deepEqual([first.runCount, first.turn?.followUpIds], [1, []]);
    assert.deepEqual(end(first).agent.turn?.followUpIds, ["p"]);
  });
  it("a message queued after it comes after it", () => {
    const agent = queueAll(queue(running(), preempting).agent, ["z"]);
    assert.deepEqual(idsOf(agent.queued), ["p", "z"]);
  });
});

describe("the queue and rest (semantics 2)", () => {
  it("queue-add followed by wait never sees the old rest", () => {
    const { agent } = queue(resting(), followUp("a"));
    assert.equal(agent.phase, Phase.PENDING);
    assert.equal(agent.needsInput, undefined);
  });
  it("taking the only message back brings the old rest", () => {
    assert.equal(remove(queueAll(resting(), ["a"]), "a").agent.phase, Phase.WAITING_FOR_INPUT);
    assert.equal(clear(queueAll(resting(), ["a"])).agent.phase, Phase.WAITING_FOR_INPUT);
  });
  it("removing the last deferred message of a sleeping agent tells its caller", () => {
    const slept = queue(resting(), deferredTo(T0 + 5)).agent;
    assert.equal(remove(slept, "d").agent.phase, Phase.WAITING_FOR_INPUT);
  });
  it("a STOPPING agent still promotes what is due, and its messages can be taken back", () => {
    const agent = killAgent(queue(running(), deferredTo(T0 + 5)).agent, "killed", at()).agent;
    const due = later(agent, T0 + 5).agent;
    assert.deepEqual(idsOf(due.queued), ["d"]);
    assert.deepEqual(remove(due, "d").reply, { removed: true });
  });
  it("message 0 is no follow-up: a clear before the first run leaves it, and it runs", () => {
    const { agent, reply } = clear(spawned());
    assert.deepEqual([reply.cleared, agent.phase], [0, Phase.PENDING]);
    assert.deepEqual(start(agent).turn?.followUpIds, []);
  });
  it("what a decision does not touch keeps its reference", () => {
    const before = queueAll(running({ tasks: [task("t")] }), ["a", "b"]);
    const { agent } = queue(before, followUp("c"));
    assert.equal(agent.queued[0], before.queued[0]);
    assert.equal(agent.tasks, before.tasks);
    assert.equal(agent.deferred, before.deferred);
    assert.equal(agent.settings, before.settings);
  });
  it("a persona that is known is accepted", () => {
    const decision = queue(running(), followUp("a", { agent: "p" }), at(), { persona: persona("p") });
    assert.equal(decision.agent.queued[0]?.settings.persona?.name, "p");
  });
});
