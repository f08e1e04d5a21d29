import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StopTurnMode } from "../../../gen/retinue/v1/agent_service_pb.js";
import type { Agent } from "../../../src/domain/agent/agent.js";
import { desired } from "../../../src/domain/agent/desired.js";
import { killAgent, processesEnded } from "../../../src/domain/agent/kill.js";
import { DEFAULT_LIMITS } from "../../../src/domain/agent/limits.js";
import { timePassed } from "../../../src/domain/agent/time-passed.js";
import {
  at,
  DAY,
  done,
  end,
  followUp,
  interrupting,
  lose,
  prompted,
  queue,
  queueAll,
  recovering,
  resting,
  running,
  spawned,
  starting,
  stop,
  T0,
  task,
  withChild,
} from "./fixtures.js";

const { silenceMs, turnMs, idleProcessMs } = DEFAULT_LIMITS;
const stopping = () => killAgent(running(), "killed", at()).agent;
const timedOut = () => timePassed(running(), at(T0 + silenceMs)).agent;
const reminded = () => end(done(running({ tasks: [task("t")] }))).agent;
const deferred = (agent: Agent, ms: number) => queue(agent, followUp("d", { deliverAtMs: ms })).agent;
const wall = { maxCostUsd: undefined, maxTokens: undefined, maxTurns: undefined, maxWallTimeMs: 500 };

describe("desired: work from state", () => {
  const rows: [
    row: string,
    agent: () => Agent,
    nowMs: number,
    effect: string,
    wakeAtMs: number | undefined,
  ][] = [
    ["PENDING wants a slot", spawned, T0, "request-slot", undefined],
    ["PENDING by a message wants a slot", () => queueAll(resting(), ["a"]), T0, "request-slot", undefined],
    ["before startAt it waits", () => spawned({ startAtMs: T0 + 9 }), T0, "nothing", T0 + 9],
    ["at startAt it wants a slot", () => spawned({ startAtMs: T0 + 9 }), T0 + 9, "request-slot", undefined],
    ["STARTING: run it, with its message", starting, T0, "run-turn message", T0 + turnMs],
    ["RUNNING: hold it", running, T0, "hold-turn", T0 + silenceMs],
    ["RECOVERING whose prompt was sent: continue", recovering, T0, "run-turn continue", T0 + turnMs],
    [
      "RECOVERING whose prompt was not sent: the message",
      () => lose(starting(), "outage").agent,
      T0,
      "run-turn message",
      T0 + turnMs,
    ],
    ["RECOVERING in back-off: wait", () => lose(running(), "failure").agent, T0, "nothing", T0 + 1000],
    [
      "RECOVERING after it: run",
      () => lose(running(), "failure").agent,
      T0 + 1000,
      "run-turn continue",
      T0 + turnMs,
    ],
    ["a reminder that is owed", reminded, T0, "run-turn reminder", T0 + silenceMs],
    ["a reminder that was sent", () => prompted(reminded()), T0, "hold-turn", T0 + silenceMs],
    [
      "a reminder that is owed after a loss",
      () => lose(reminded(), "outage").agent,
      T0,
      "run-turn reminder",
      T0 + turnMs,
    ],
    [
      "a repair that is owed",
      () => end(running({ outputSchema: "{}" })).agent,
      T0,
      "run-turn repair",
      T0 + silenceMs,
    ],
    ["INTERRUPTING: cancel, with the time-out behind it", interrupting, T0, "cancel-turn", T0 + silenceMs],
    [
      "INTERRUPTING with KILL: kill",
      () => stop(running(), StopTurnMode.KILL).agent,
      T0,
      "kill-turn",
      undefined,
    ],
    ["timed out: cancel", timedOut, T0 + silenceMs, "cancel-turn", T0 + silenceMs + 10_000],
    ["timed out 10 s ago: kill", timedOut, T0 + silenceMs + 10_000, "kill-turn", undefined],
    ["at rest: nothing, and the process goes after 5 minutes", resting, T0, "nothing", T0 + idleProcessMs],
    ["at rest for 5 minutes: end its processes", resting, T0 + idleProcessMs, "end-processes", undefined],
    ["a deferred message: wake then", () => deferred(resting(), T0 + 20), T0, "nothing", T0 + 20],
    [
      "a deferred message of a long sleeper",
      () => deferred(resting(), T0 + DAY),
      T0 + idleProcessMs,
      "end-processes",
      T0 + DAY,
    ],
    [
      "a deferred message that is due: at once",
      () => deferred(resting(), T0 + 20),
      T0 + 30,
      "nothing",
      T0 + 20,
    ],
    ["a deferred message while running", () => deferred(running(), T0 + 20), T0, "hold-turn", T0 + 20],
    [
      "SLEEPING on a child: nothing to do but the idle process",
      () => end(withChild(running(), "c")).agent,
      T0 + idleProcessMs,
      "end-processes",
      undefined,
    ],
    ["STOPPING: end its processes, 30 s at most", stopping, T0, "end-processes", T0 + 30_000],
    [
      "STOPPING, processes gone, a child still lives: its end will tell",
      () => processesEnded(killAgent(withChild(running(), "c"), "killed", at()).agent, at()).agent,
      T0,
      "nothing",
      undefined,
    ],
    [
      "CANCELED with survivors: still hunted",
      () => timePassed(stopping(), at(T0 + 30_000)).agent,
      T0 + DAY,
      "end-processes",
      undefined,
    ],
    [
      "CANCELED, processes gone: nothing",
      () => processesEnded(stopping(), at()).agent,
      T0,
      "nothing",
      undefined,
    ],
    ["COMPLETED: end its processes", () => end(done(running())).agent, T0, "end-processes", undefined],
    ["FAILED: end its processes", () => lose(running(), "fatal").agent, T0, "end-processes", undefined],
    [
      "a budget of wall time wakes a running turn",
      () => running({ budget: wall }),
      T0,
      "hold-turn",
      T0 + 500,
    ],
    [
      "and a parent that sleeps on children that draw on it",
      () => end(withChild(running({ budget: wall }), "c")).agent,
      T0,
      "nothing",
      T0 + 500,
    ],
    ["but nobody who does not spend", () => resting({ budget: wall }), T0, "nothing", T0 + idleProcessMs],
  ];
  for (const [row, agent, nowMs, effect, wakeAtMs] of rows) {
    it(row, () => {
      const wanted = desired(agent(), nowMs, DEFAULT_LIMITS);
      const prompt = wanted.effect.type === "run-turn" ? ` ${wanted.effect.prompt}` : "";
      assert.deepEqual([wanted.effect.type + prompt, wanted.wakeAtMs], [effect, wakeAtMs]);
    });
  }
  it("names the attempt that it speaks of", () => {
    const { effect } = desired(recovering(), T0, DEFAULT_LIMITS);
    assert.deepEqual(effect, { type: "run-turn", prompt: "continue", runId: 1, attempt: 2 });
  });
});
