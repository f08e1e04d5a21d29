import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createTimers } from "../../src/engine/agents/timers.js";

/** Timers over a clock that the test moves, and whom they have woken, at what time. */
function timersOf(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let nowMs = 0;
  const woken: string[] = [];
  const timers = createTimers(
    () => nowMs,
    (uid) => void woken.push(`${uid} at ${nowMs}`),
  );
  const pass = (ms: number) => {
    for (let i = 0; i < ms; i++) {
      nowMs += 1;
      t.mock.timers.tick(1);
    }
  };
  return { timers, woken, pass };
}

describe("timers", () => {
  it("wake each at its time, once", (t) => {
    const { timers, woken, pass } = timersOf(t);
    timers.set("b", 20);
    timers.set("a", 10);
    pass(50);
    assert.deepEqual(woken, ["a at 10", "b at 20"]);
  });

  it("keep the newest time of an agent, and none after an undefined one", (t) => {
    const { timers, woken, pass } = timersOf(t);
    timers.set("a", 10);
    timers.set("a", 30);
    timers.set("b", 10);
    timers.set("b", undefined);
    pass(50);
    assert.deepEqual(woken, ["a at 30"]);
  });

  it("another try does not put off a time that comes first", (t) => {
    const { timers, woken, pass } = timersOf(t);
    timers.set("due", 10);
    timers.setAtLatest("due", 30);
    timers.set("late", 40);
    timers.setAtLatest("late", 20);
    timers.setAtLatest("idle", 25);
    pass(50);
    assert.deepEqual(woken, ["due at 10", "late at 20", "idle at 25"]);
  });

  it("wake nobody once they are stopped", (t) => {
    const { timers, woken, pass } = timersOf(t);
    timers.set("a", 10);
    timers.stop();
    timers.set("b", 20);
    pass(50);
    assert.deepEqual(woken, []);
  });
});
