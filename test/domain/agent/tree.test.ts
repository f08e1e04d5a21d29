import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Phase, TurnOutcome } from "../../../gen/retinue/v1/agent_pb.js";
import { StopTurnMode } from "../../../gen/retinue/v1/agent_service_pb.js";
import type { Agent } from "../../../src/domain/agent/agent.js";
import { subtreeSpentOf } from "../../../src/domain/agent/budget.js";
import { childHandedOver, childNotified } from "../../../src/domain/agent/children.js";
import { killAgent, processesEnded } from "../../../src/domain/agent/kill.js";
import { timePassed } from "../../../src/domain/agent/time-passed.js";
import {
  ask,
  at,
  DAY,
  done,
  end,
  fenceOf,
  followUp,
  followUpEvents,
  lose,
  prompted,
  queue,
  queueAll,
  resting,
  running,
  sound,
  spawned,
  start,
  starting,
  stop,
  T0,
  tell,
  typesOf,
  withChild,
} from "./fixtures.js";

const kill = (agent: Agent, context = at()) => sound(killAgent(agent, "killed", context));
const gone = (agent: Agent, context = at()) => sound(processesEnded(agent, context));
const childOf = (name = "c") => running({ path: ["root", name] });
/** SLEEPING on one child. */
const parent = () => end(withChild(running(), "c")).agent;

describe("kill (semantics 2; semantics 1, row 14)", () => {
  const live: [string, () => Agent][] = [
    ["PENDING", spawned],
    ["STARTING", starting],
    ["RUNNING", running],
    ["at rest", resting],
    ["SLEEPING", parent],
  ];
  for (const [row, agent] of live) {
    it(`an agent that is ${row} is STOPPING at once and its turn is over`, () => {
      const decision = kill(agent());
      assert.equal(decision.agent.phase, Phase.STOPPING);
      assert.equal(decision.agent.turn, undefined);
      assert.equal(decision.reply, undefined);
    });
  }
  it("its turn ends KILLED, and the keys of that turn die with the fence", () => {
    const agent = running();
    const killed = kill(agent).agent;
    assert.equal(killed.lastTurn?.outcome, TurnOutcome.KILLED);
    assert.equal(killed.turn, undefined);
  });
  it("is idempotent: a STOPPING or terminal agent is left as it is", () => {
    for (const agent of [
      kill(running()).agent,
      gone(kill(running()).agent).agent,
      end(done(running())).agent,
    ]) {
      assert.equal(kill(agent).agent, agent);
    }
  });
  it("then CANCELED, its messages CLEARED with the reason", () => {
    const agent = queue(queueAll(running(), ["a"]), followUp("d", { deliverAtMs: T0 + DAY })).agent;
    const decision = gone(kill(agent).agent);
    assert.equal(decision.agent.phase, Phase.CANCELED);
    assert.deepEqual(followUpEvents(decision), ["FOLLOW_UP_CLEARED a", "FOLLOW_UP_CLEARED d"]);
    const first = decision.events[0]?.detail;
    assert.ok(first?.case === "followUp" && first.value?.reason === "killed");
  });
  it("leaf first: a parent is CANCELED only when its child has ended", () => {
    const killed = gone(kill(parent()).agent).agent;
    assert.equal(killed.phase, Phase.STOPPING);
    const child = gone(kill(childOf()).agent);
    assert.equal(tell(killed, child).phase, Phase.CANCELED);
  });
  it("a child that ended before the parent's processes does not cancel it yet", () => {
    const killed = tell(kill(parent()).agent, gone(kill(childOf()).agent));
    assert.equal(killed.phase, Phase.STOPPING);
    assert.equal(gone(killed).agent.phase, Phase.CANCELED);
  });
  it("after 30 s CANCELED with the survivors noted, and still hunted", () => {
    const killed = kill(running()).agent;
    assert.equal(timePassed(killed, at(T0 + 29_999)).agent, killed);
    const { agent } = sound(timePassed(killed, at(T0 + 30_000)));
    assert.deepEqual([agent.phase, agent.lastError?.kind], [Phase.CANCELED, "survivors"]);
    assert.equal(agent.kill?.processesGone, false);
    const hunted = gone(agent);
    assert.deepEqual([hunted.agent.kill?.processesGone, hunted.events], [true, []]);
  });
  it("a child's news do not reach a STOPPING parent", () => {
    const killed = tell(kill(parent()).agent, end(ask(childOf())));
    assert.deepEqual(killed.queued, []);
  });
});

describe("children (semantics 2)", () => {
  it("a spawn below it is told in its timeline, and it sleeps when its turn ends", () => {
    const agent = parent();
    assert.equal(agent.phase, Phase.SLEEPING);
    assert.equal(agent.children[0]?.name, "c");
  });
  it("a spawn below a resting agent puts it to sleep", () => {
    assert.equal(withChild(resting(), "c").phase, Phase.SLEEPING);
  });
  it("a spawn below an agent that asked leaves its question standing", () => {
    assert.equal(withChild(end(ask(running())).agent, "c").needsInput?.cause, "question");
  });
  it("child enters WAITING with a question: a platform message to the parent", () => {
    const told = tell(parent(), end(ask(childOf(), "red or blue?")));
    assert.equal(told.phase, Phase.PENDING);
    assert.equal(told.queued[0]?.description, "child c asks: red or blue?");
    assert.deepEqual([told.queued[0]?.origin, told.queued[0]?.sender], ["child", "platform"]);
  });
  it("child waits for another reason: the parent is told as well", () => {
    const stopped = end(stop(childOf(), StopTurnMode.INTERRUPT).agent);
    assert.equal(tell(parent(), stopped).queued[0]?.description, "child c waits: the turn was interrupted");
  });
  it("a parent that was told and does not answer passes it on to its own caller", () => {
    const told = prompted(start(tell(parent(), end(ask(childOf(), "red?")))));
    assert.deepEqual(end(told).agent.needsInput, { cause: "child", text: "child c waits: red?" });
  });
  it("once the child moves again the parent sleeps on it", () => {
    const child = end(ask(childOf()));
    const waits = end(prompted(start(tell(parent(), child)))).agent;
    assert.equal(waits.phase, Phase.WAITING_FOR_INPUT);
    assert.equal(tell(waits, queue(child.agent, followUp("answer"))).phase, Phase.SLEEPING);
  });
  it("a parent that has declared done and whose child asks is not woken; its caller is told", () => {
    const declared = end(withChild(done(running()), "c")).agent;
    assert.equal(declared.phase, Phase.SLEEPING);
    const told = tell(declared, end(ask(childOf(), "red?")));
    assert.deepEqual([told.queued, told.needsInput?.cause], [[], "child"]);
  });
  it("child terminal: a platform message to the parent with its result", () => {
    const told = tell(parent(), end(done(childOf(), "42")));
    assert.equal(told.queued[0]?.description, "child c completed: 42");
    assert.deepEqual(told.children, []);
  });
  it("a child that ended plainly hands over what it said last", () => {
    assert.equal(
      tell(parent(), end(childOf(), { summary: "bye" })).queued[0]?.description,
      "child c completed: bye",
    );
  });
  it("a child that failed is told with its error", () => {
    assert.equal(
      tell(parent(), lose(childOf(), "fatal")).queued[0]?.description,
      "child c failed: exited with 1",
    );
  });
  it("a child that was killed is told", () => {
    const told = tell(parent(), gone(kill(childOf()).agent));
    assert.equal(told.queued[0]?.description, "child c canceled");
  });
  it("a parent that has declared done gets no news: the end of its last child only re-evaluates rest", () => {
    const declared = end(withChild(done(running()), "c")).agent;
    const told = tell(declared, end(done(childOf())));
    assert.deepEqual([told.phase, told.runCount], [Phase.COMPLETED, 1]);
  });
  it("the end of a child is an event of its parent", () => {
    const child = end(done(childOf()));
    const notice = child.toParent[0];
    assert.ok(notice);
    assert.deepEqual(typesOf(childNotified(parent(), { notice, followUpId: "n" }, at())), [
      "CHILD_ENDED",
      "FOLLOW_UP_QUEUED",
      "PHASE_CHANGED",
    ]);
  });
  it("what the wait tool has handed over in this run is not sent again: the message is taken back", () => {
    const agent = withChild(running(), "c");
    const told = tell(agent, end(done(childOf())));
    assert.equal(told.queued.length, 1);
    const decision = sound(
      childHandedOver(told, { ...fenceOf(told), childUid: "root.c", ended: true }, at()),
    );
    assert.deepEqual(decision.agent.queued, []);
    assert.equal(followUpEvents(decision).length, 1);
  });
  it("nor is it sent when the hand-over came first", () => {
    const agent = withChild(running(), "c");
    const handed = childHandedOver(agent, { ...fenceOf(agent), childUid: "root.c", ended: true }, at()).agent;
    assert.deepEqual(tell(handed, end(done(childOf()))).queued, []);
  });
  it("a question that the wait tool handed over does not swallow the end of the child", () => {
    const agent = withChild(running(), "c");
    const child = end(ask(childOf()));
    let told = tell(agent, child);
    told = childHandedOver(told, { ...fenceOf(told), childUid: "root.c", ended: false }, at()).agent;
    assert.deepEqual(told.queued, []);
    const answered = end(done(prompted(start(queueAll(child.agent, ["a"])))));
    assert.equal(tell(told, answered).queued.length, 1);
  });
  it("news of a child that is not known, or to a parent that has ended, change nothing", () => {
    const ended = end(done(running())).agent;
    assert.equal(tell(ended, end(done(childOf()))), ended);
    const other = parent();
    assert.equal(tell(other, end(done(childOf("x")))), other);
  });
  it("a failed agent lets its children go one by one, and its log stays as it ended", () => {
    const failed = lose(withChild(running(), "c"), "fatal").agent;
    const child = { uid: "root.c", path: ["root", "c"] };
    const spent = { costUsd: 7, tokens: 0, turns: 1 };
    const notice = { type: "ended", child, phase: Phase.CANCELED, result: "", spent } as const;
    const after = childNotified(failed, { notice, followUpId: "n" }, at());
    assert.deepEqual([after.agent.children, after.events, after.toParent], [[], [], []]);
    assert.equal(subtreeSpentOf(after.agent).costUsd, 7);
  });
  it("adjacent news of several children are one delivery", () => {
    let agent = end(withChild(withChild(running(), "c"), "e")).agent;
    agent = tell(tell(agent, end(done(childOf("c")))), end(done(childOf("e"))));
    assert.equal(start(agent).turn?.followUpIds.length, 2);
  });
  it("the parent of a killed subtree that lives on is told", () => {
    const stopping = kill(childOf());
    const agent = tell(parent(), stopping);
    assert.equal(agent.phase, Phase.SLEEPING);
  });
});
