import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { Phase, TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import { StopTurnMode } from "../../../gen/retinue/v1/agent_service_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import { NOTHING_SPENT } from "../../../src/domain/agent/budget.js";
import type { ChildNotice } from "../../../src/domain/agent/child-notice.js";
import { childNotified, childSpawned } from "../../../src/domain/agent/children.js";
import { followUpFingerprint } from "../../../src/domain/agent/follow-up.js";
import { killAgent, processesEnded } from "../../../src/domain/agent/kill.js";
import { isAlive, isTerminal } from "../../../src/domain/agent/phase.js";
import { queuePlatformMessage } from "../../../src/domain/agent/platform-message.js";
import { queueAdd } from "../../../src/domain/agent/queue-add.js";
import { clearFollowUps, removeFollowUp } from "../../../src/domain/agent/queue-edit.js";
import { slotGranted } from "../../../src/domain/agent/settle.js";
import { stopTurn } from "../../../src/domain/agent/stop-turn.js";
import { timePassed } from "../../../src/domain/agent/time-passed.js";
import { turnEnded } from "../../../src/domain/agent/turn-ended.js";
import { turnLost } from "../../../src/domain/agent/turn-loss.js";
import { askedInput, declaredDone, progressed, promptSent } from "../../../src/domain/agent/turn-report.js";
import { Fault } from "../../../src/domain/fault.js";
import { EXITED, fenceOf, followUp, KNOWN, task } from "./fixtures.js";
import { type Cut, LIMITS, type Message, Model, type Turn } from "./model.js";
import { Real } from "./real.js";

/** Commands that met an agent that had not ended; the others count for nothing. */
let executed = 0;
let minted = 0;

/** A command: what the model expects, then what the agent does; a reason where it is to be refused. */
function command(
  name: string,
  run: (model: Model, real: Real, slotWanted: boolean) => void,
  slotWanted: boolean,
): fc.Command<Model, Real> {
  return {
    check: () => true,
    run: (model, real) => {
      if (!isTerminal(real.agent.phase)) executed++;
      run(model, real, slotWanted);
      compare(model, real);
    },
    toString: () => `${name}${slotWanted ? " (slot wanted)" : ""}`,
  };
}

/** The model's decision: promote, change, settle; or nothing at all where it is refused. */
function decide(model: Model, slotWanted: boolean, change: () => void): void {
  if (["CANCELED", "FAILED", "COMPLETED"].includes(model.end)) return;
  model.promote();
  const hadTurn = model.turn !== undefined;
  change();
  model.settle(hadTurn, slotWanted);
}

function refusal(act: () => void): string {
  try {
    act();
    return "";
  } catch (error) {
    if (error instanceof Fault) return error.reason;
    throw error;
  }
}

function compare(model: Model, real: Real): void {
  const { agent } = real;
  const ids = (list: readonly { readonly followUpId: string }[]) => list.map(({ followUpId }) => followUpId);
  assert.equal(Phase[agent.phase], model.phase(), "phase");
  assert.deepEqual(
    ids(agent.queued),
    model.queue.map(({ id }) => id),
    "queue, first in, first out",
  );
  assert.deepEqual(
    ids(agent.deferred),
    model.deferred.map(({ id }) => id),
    "deferred, by (deliverAt, arrival)",
  );
  assert.equal(
    agent.turn === undefined ? undefined : TurnState[agent.turn.state].toLowerCase(),
    model.turn?.state,
  );
  assert.equal(agent.runCount, model.runs);
  assert.deepEqual(real.delivered, model.delivered, "delivered once, in order");
  const fates = [...real.records.values()].map(({ followUpId, state }) => [followUpId, FollowUpState[state]]);
  assert.deepEqual(new Map(fates as [string, string][]), model.fates, "fates");
}

const queueAddCommand = (
  id: string,
  variant: string,
  preempt: boolean,
  deferMs: number | undefined,
  withTask: boolean,
  slotWanted: boolean,
) =>
  command(
    `queue-add ${id} ${variant}${preempt ? " preempt" : ""}${deferMs === undefined ? "" : ` +${deferMs}`}`,
    (model, real) => {
      const followUpId = id === "mint" ? `minted-${++minted}` : id;
      const dueMs = deferMs === undefined ? 0 : model.nowMs + deferMs;
      const deliverAtMs = deferMs === undefined ? undefined : dueMs;
      const tasks = withTask ? [task(`task of ${followUpId}`)] : [];
      const request = followUp(id === "mint" ? "" : id, {
        description: variant,
        preempt,
        deliverAtMs,
        tasks,
      });
      const content = JSON.stringify([variant, preempt, deliverAtMs, withTask]);
      const expected = expectAdd(
        model,
        { id: followUpId, caller: true, content, dueMs, tasks: tasks.length },
        deferMs,
        preempt,
        slotWanted,
      );
      real.accepting = followUpFingerprint(request);
      const reason = refusal(() => {
        const existing = real.records.get(followUpId);
        const input = {
          request,
          sender: "x/y",
          mintedId: followUpId,
          existing,
          persona: undefined,
          known: KNOWN,
        };
        const receipt = real.commit(queueAdd(real.agent, input, real.context(model.nowMs, slotWanted)));
        assert.equal(receipt.added ? "added" : "repeated", expected);
      });
      if (reason !== "") assert.equal(reason, expected);
    },
    slotWanted,
  );

function expectAdd(
  model: Model,
  message: Message,
  deferMs: number | undefined,
  preempt: boolean,
  slotWanted: boolean,
): string {
  const { id, content } = message;
  const fate = model.fates.get(id);
  if (fate !== undefined && fate !== "REMOVED") {
    if (model.contents.get(id) !== content) return "FOLLOW_UP_ID_TAKEN";
    decide(model, slotWanted, () => {});
    return "repeated";
  }
  if (!model.alive()) return model.end === "STOPPING" ? "AGENT_STOPPING" : "AGENT_TERMINAL";
  if (deferMs !== undefined && preempt) return "DELIVER_AT_WITH_PREEMPT";
  if (deferMs !== undefined && deferMs <= 0) return "DELIVER_AT_NOT_FUTURE";
  // What is due counts as queued before the limits are looked at.
  const due = model.deferred.filter(({ dueMs }) => dueMs <= model.nowMs);
  if (deferMs !== undefined && model.deferred.length - due.length >= LIMITS.deferred) return "DEFERRED_FULL";
  const held = [...model.queue, ...due].filter(({ child }) => child === undefined).length;
  if (deferMs === undefined && !preempt && held >= LIMITS.queued) return "QUEUE_FULL";
  decide(model, slotWanted, () => {
    model.contents.set(id, content);
    if (deferMs !== undefined) {
      model.deferred.push(message);
      model.deferred.sort((a, b) => a.dueMs - b.dueMs);
      model.fates.set(id, "DEFERRED");
      return;
    }
    if (preempt) {
      model.clear(model.queue);
      model.cut("preempt");
    }
    model.push(message);
  });
  return "added";
}

const platformCommand = (slotWanted: boolean) =>
  command(
    "platform message",
    (model, real) => {
      const id = `platform-${++minted}`;
      const due = model.deferred.filter(({ dueMs }) => dueMs <= model.nowMs);
      const held = [...model.queue, ...due].filter(({ child }) => child === undefined).length;
      const accepted = model.alive() && held < LIMITS.queued;
      if (accepted)
        decide(model, slotWanted, () => model.push({ id, caller: false, content: "", dueMs: 0, tasks: 1 }));
      const tasks = [{ subject: "s", description: "", dedupKey: "k", ephemeral: true }];
      const reason = refusal(() =>
        real.commit(
          queuePlatformMessage(
            real.agent,
            { message: { followUpId: id, description: "p", tasks }, existing: undefined },
            real.context(model.nowMs, slotWanted),
          ),
        ),
      );
      assert.equal(reason === "", accepted);
    },
    slotWanted,
  );

const removeCommand = (id: string, slotWanted: boolean) =>
  command(
    `remove ${id}`,
    (model, real) => {
      let removed = false;
      decide(model, slotWanted, () => {
        const found = [...model.queue, ...model.deferred].find((m) => m.id === id);
        if (!found) return;
        removed = true;
        model.queue = model.queue.filter((m) => m !== found);
        model.deferred = model.deferred.filter((m) => m !== found);
        model.fates.set(id, "REMOVED");
      });
      assert.equal(
        real.commit(removeFollowUp(real.agent, id, real.context(model.nowMs, slotWanted))).removed,
        removed,
      );
    },
    slotWanted,
  );

const clearCommand = (slotWanted: boolean) =>
  command(
    "clear",
    (model, real) => {
      let cleared = 0;
      decide(model, slotWanted, () => {
        cleared = model.queue.length;
        model.clear(model.queue);
      });
      assert.equal(
        real.commit(clearFollowUps(real.agent, real.context(model.nowMs, slotWanted))).cleared,
        cleared,
      );
    },
    slotWanted,
  );

const stopCommand = (mode: StopTurnMode, off: number, slotWanted: boolean) =>
  command(
    `stop-turn ${StopTurnMode[mode]} ${off === 0 ? "" : "of another run"}`,
    (model, real) => {
      const runId = model.runs + off;
      const expected =
        runId === 0 ? "RUN_ID_REQUIRED" : !model.turn ? "NO_TURN_RUNNING" : off === 0 ? "" : "RUN_ID_STALE";
      const how: Cut = mode === StopTurnMode.KILL ? "kill" : "interrupt";
      if (expected === "") decide(model, slotWanted, () => model.cut(how));
      const input = { runId: BigInt(runId), mode };
      assert.equal(
        refusal(() => real.commit(stopTurn(real.agent, input, real.context(model.nowMs, slotWanted)))),
        expected,
      );
    },
    slotWanted,
  );

const killCommand = () =>
  command(
    "kill",
    (model, real) => {
      if (model.alive()) {
        model.promote();
        if (model.turn) model.endTurn(true);
        model.end = "STOPPING";
        model.stoppedMs = model.nowMs;
      }
      real.commit(killAgent(real.agent, "killed", real.context(model.nowMs)));
    },
    false,
  );

const processesCommand = () =>
  command(
    "processes ended",
    (model, real) => {
      if (model.end === "STOPPING" && !model.processesGone) {
        model.processesGone = true;
        model.promote();
        model.tryCancel();
      }
      real.commit(processesEnded(real.agent, real.context(model.nowMs)));
    },
    false,
  );

const timeCommand = (ms: number, slotWanted: boolean) =>
  command(
    `time +${ms}`,
    (model, real) => {
      model.nowMs += ms;
      decide(model, slotWanted, () => model.timePassed());
      real.commit(timePassed(real.agent, real.context(model.nowMs, slotWanted)));
    },
    slotWanted,
  );

const clockCommand = (ms: number) =>
  command(
    `clock +${ms}, unnoticed`,
    (model) => {
      model.nowMs += ms;
    },
    false,
  );

const slotCommand = () =>
  command(
    "slot granted",
    (model, real) => {
      const pending = model.phase() === "PENDING";
      if (pending) {
        model.promote();
        model.start();
      }
      assert.equal(real.commit(slotGranted(real.agent, real.context(model.nowMs))) !== undefined, pending);
    },
    false,
  );

type Report = "prompt" | "progress" | "ask" | "done" | "end" | "failure" | "outage" | "fatal";

const reportCommand = (report: Report, stale: boolean, slotWanted: boolean) =>
  command(
    `${report}${stale ? " of an older attempt" : ""}`,
    (model, real) => {
      const held = real.agent.turn === undefined ? { runId: 1, attempt: 1 } : fenceOf(real.agent);
      const fence = stale ? { ...held, attempt: held.attempt - 1 } : held;
      const taken = model.turn !== undefined && !stale && !(report === "end" && owesPrompt(model.turn));
      if (taken && !skipped(model, report)) decide(model, slotWanted, () => expectReport(model, report));
      const context = real.context(model.nowMs, slotWanted);
      const { agent } = real;
      const reply = {
        prompt: () => real.commit(promptSent(agent, fence, context)),
        progress: () => real.commit(progressed(agent, fence, context)),
        ask: () => real.commit(askedInput(agent, { ...fence, question: "?" }, context)),
        done: () => real.commit(declaredDone(agent, { ...fence, result: "!" }, context)),
        end: () => real.commit(turnEnded(agent, { ...fence, summary: "" }, context)),
        failure: () => real.commit(turnLost(agent, { ...fence, loss: "failure", error: EXITED }, context)),
        outage: () => real.commit(turnLost(agent, { ...fence, loss: "outage", error: EXITED }, context)),
        fatal: () => real.commit(turnLost(agent, { ...fence, loss: "fatal", error: EXITED }, context)),
      }[report]();
      assert.equal(reply.stale, !taken, "a late report changes nothing");
    },
    slotWanted,
  );

function owesPrompt({ state, reminderOwed }: Turn): boolean {
  return state !== "interrupting" && (state !== "running" || reminderOwed);
}

/** A prompt that may not be sent any more changes nothing. */
function skipped(model: Model, report: Report): boolean {
  return report === "prompt" && model.turn?.state === "interrupting";
}

function expectReport(model: Model, report: Report): void {
  const turn = model.turn;
  if (!turn) return;
  switch (report) {
    case "prompt":
      turn.state = "running";
      turn.reminderOwed = false;
      turn.aliveMs = model.nowMs;
      return;
    case "ask":
    case "done":
    case "progress":
      if (report !== "progress") {
        model.word = report;
        turn.spoke = true;
      }
      model.outages = 0;
      turn.aliveMs = model.nowMs;
      return;
    case "end":
      if (turn.state === "interrupting") model.endTurn(true);
      else model.endedByItself(turn);
      return;
    default:
      expectLoss(model, report);
  }
}

function expectLoss(model: Model, loss: "failure" | "outage" | "fatal"): void {
  if (model.turn?.state === "interrupting") {
    model.endTurn(true);
    return;
  }
  if (loss === "failure") model.failures++;
  if (loss === "outage") model.outages++;
  if (loss === "fatal" || model.failures >= 3 || model.outages > 10) model.fail();
  else if (model.turn) model.turn.state = "recovering";
}

/** Two or three reports in a row: without this, few stories would get to a rest that is worth the name. */
const wholeTurnCommand = (
  word: "ask" | "done" | "progress",
  slotWanted: boolean,
): fc.Command<Model, Real> => {
  const steps = [slotCommand(), reportCommand("prompt", false, false), reportCommand(word, false, false)];
  const all = [...steps, reportCommand("end", false, slotWanted)];
  return {
    check: () => true,
    run: (model, real) => {
      for (const step of all) step.run(model, real);
    },
    toString: () => all.join(", "),
  };
};

const restartCommand = () =>
  command(
    "server restart",
    (model, real) => {
      if (model.turn) decide(model, false, () => expectLoss(model, "outage"));
      real.restart(model.nowMs);
    },
    false,
  );

type ChildAct = "spawn" | "waits" | "moves" | "ended";

const childCommand = (act: ChildAct, name: string, slotWanted: boolean) =>
  command(
    `child ${name} ${act}`,
    (model, real) => {
      const id = `news-${++minted}`;
      const context = real.context(model.nowMs, slotWanted);
      const child = { uid: name, path: ["root", name] };
      if (act === "spawn") {
        // The door refuses a spawn below an agent that is not alive, or at a path in use.
        if (!model.alive() || model.children.has(name)) return;
        decide(model, slotWanted, () => model.children.set(name, false));
        real.commit(childSpawned(real.agent, { ...child, budget: undefined }, context));
        return;
      }
      const known = model.children.has(name);
      if (known) decide(model, slotWanted, () => expectNews(model, act, name, id));
      const notice: ChildNotice =
        act === "waits"
          ? { type: act, child, asked: true, text: "?" }
          : act === "moves"
            ? { type: act, child }
            : { type: act, child, phase: Phase.COMPLETED, result: "", spent: NOTHING_SPENT };
      real.commit(childNotified(real.agent, { notice, followUpId: id }, context));
    },
    slotWanted,
  );

function expectNews(model: Model, act: ChildAct, name: string, id: string): void {
  if (act === "ended") model.children.delete(name);
  else model.children.set(name, act === "waits");
  const told = act !== "moves" && model.alive() && model.word !== "done";
  if (told) model.push({ id, caller: false, content: "", dueMs: 0, tasks: 0, child: name });
  model.tryCancel();
}

const id = fc.constantFrom("a", "b", "c", "d", "e", "f", "mint", "mint", "mint");
const wanted = fc.boolean();
const defer = fc.option(fc.constantFrom(-1, 0, 1, 500, 60_000, 60_000, 7_200_000), {
  nil: undefined,
  freq: 2,
});
const mode = fc.constantFrom(StopTurnMode.UNSPECIFIED, StopTurnMode.INTERRUPT, StopTurnMode.KILL);
const mostly = (usual: Report) =>
  fc.tuple(
    fc.constant(usual),
    fc.integer({ min: 0, max: 7 }).map((n) => n === 0),
    wanted,
  );

const COMMANDS = [
  fc
    .tuple(id, fc.constantFrom("x", "x", "y"), fc.boolean(), defer, fc.boolean(), wanted)
    .map((a) => queueAddCommand(...a)),
  fc
    .tuple(id, fc.constant("x"), fc.constant(false), fc.constant(undefined), fc.boolean(), wanted)
    .map((a) => queueAddCommand(...a)),
  wanted.map(platformCommand),
  fc.tuple(id, wanted).map((a) => removeCommand(...a)),
  wanted.map(clearCommand),
  fc.tuple(mode, fc.constantFrom(0, 0, 0, 1, -1), wanted).map((a) => stopCommand(...a)),
  fc.tuple(fc.constantFrom(1, 500, 30_000, 60_000, 700_000, 3_700_000), wanted).map((a) => timeCommand(...a)),
  fc.constantFrom(1, 1000, 60_000).map(clockCommand),
  fc.constant(0).map(slotCommand),
  fc.constant(0).map(slotCommand),
  mostly("prompt").map((a) => reportCommand(...a)),
  mostly("prompt").map((a) => reportCommand(...a)),
  mostly("progress").map((a) => reportCommand(...a)),
  mostly("ask").map((a) => reportCommand(...a)),
  mostly("end").map((a) => reportCommand(...a)),
  mostly("end").map((a) => reportCommand(...a)),
  mostly("failure").map((a) => reportCommand(...a)),
  fc
    .tuple(fc.constantFrom<"ask" | "progress">("ask", "progress", "progress"), wanted)
    .map((a) => wholeTurnCommand(...a)),
  fc
    .tuple(fc.constantFrom<"ask" | "progress">("ask", "progress", "progress"), wanted)
    .map((a) => wholeTurnCommand(...a)),
  mostly("outage").map((a) => reportCommand(...a)),
  fc.constant(0).map(restartCommand),
  fc
    .tuple(fc.constantFrom<ChildAct>("spawn", "waits", "moves", "ended"), fc.constantFrom("c", "e"), wanted)
    .map((a) => childCommand(...a)),
  // What ends an agent is rare, or there would be no long stories; each story ends with one of them anyway.
  fc
    .tuple(fc.integer({ min: 0, max: 11 }), wanted)
    .map(([n, slot]) =>
      n === 0
        ? killCommand()
        : n === 1
          ? reportCommand("fatal", false, slot)
          : n < 4
            ? wholeTurnCommand("done", slot)
            : processesCommand(),
    ),
];

it("no story of an agent differs from the model, loses a message or delivers one twice", (t) => {
  const seed = process.env.SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.SEED);
  console.log(`model test: SEED=${seed}`);
  t.diagnostic(`SEED=${seed}`);
  const phases = new Map<string, number>();
  try {
    fc.assert(
      fc.property(fc.commands(COMMANDS, { maxCommands: 120, size: "max" }), (commands) => {
        const model = new Model();
        const real = new Real();
        fc.modelRun(() => ({ model, real }), commands);
        const phase = Phase[real.agent.phase];
        phases.set(phase, (phases.get(phase) ?? 0) + 1);
        assertEnded(real, model.nowMs);
      }),
      { numRuns: Number(process.env.RUNS ?? 350), seed, includeErrorInReport: true },
    );
  } catch (error) {
    console.log(`model test failed: SEED=${seed}`);
    throw error;
  }
  t.diagnostic(`${executed} commands; stories ended in ${JSON.stringify(Object.fromEntries(phases))}`);
  assert.ok(executed >= 10_000, `${executed} commands are too few`);
});

/** Left alone, the agent comes to rest, and every message that was accepted has come to exactly one end. */
function assertEnded(real: Real, nowMs: number): void {
  real.drain(nowMs);
  const { agent } = real;
  const children = agent.children.length > 0;
  assert.ok(
    isTerminal(agent.phase) || children || agent.phase === Phase.WAITING_FOR_INPUT,
    Phase[agent.phase],
  );
  const open = [...real.records.values()].filter(
    ({ state }) => state === FollowUpState.QUEUED || state === FollowUpState.DEFERRED,
  );
  if (isAlive(agent.phase) || isTerminal(agent.phase))
    assert.deepEqual(open, [], "nothing accepted is left over");
  assert.equal(new Set(real.delivered).size, real.delivered.length, "nothing is delivered twice");
}
