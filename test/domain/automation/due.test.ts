import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MissedRunPolicy } from "../../../gen/retinue/v1/catalog_pb.js";
import { dueTimes, MISSED_MAX } from "../../../src/domain/automation/due.js";
import { scheduledName } from "../../../src/domain/automation/scheduled-name.js";
import { nextRunMs } from "../../../src/domain/catalog/kinds/cron.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const at = (text: string) => Date.parse(`2026-03-01T${text}Z`);
const hourly = (afterMs: number) => nextRunMs("0 * * * *", "UTC", afterMs);

describe("what is due of a schedule", () => {
  it("is nothing before its time, which is known", () => {
    const due = dueTimes(hourly, at("09:00:00"), at("09:59:59"), MissedRunPolicy.ONCE);
    assert.deepEqual(due, { run: [], passed: undefined, next: at("10:00:00") });
  });

  it("is its time once it has come, and the next one after it", () => {
    const due = dueTimes(hourly, at("09:00:00"), at("10:00:01"), MissedRunPolicy.SKIP);
    assert.deepEqual(due, { run: [at("10:00:00")], passed: at("10:00:00"), next: at("11:00:00") });
  });

  const MISSED: [string, MissedRunPolicy, string[]][] = [
    ["SKIP leaves them out", MissedRunPolicy.SKIP, []],
    ["ONCE does the last of them", MissedRunPolicy.ONCE, ["12:00:00"]],
    ["unset is ONCE", MissedRunPolicy.UNSPECIFIED, ["12:00:00"]],
    ["ALL does each, oldest first", MissedRunPolicy.ALL, ["10:00:00", "11:00:00", "12:00:00"]],
  ];
  for (const [name, policy, expected] of MISSED) {
    it(`of three missed times: ${name}`, () => {
      const due = dueTimes(hourly, at("09:00:00"), at("12:30:00"), policy);
      assert.deepEqual(due, { run: expected.map(at), passed: at("12:00:00"), next: at("13:00:00") });
    });
  }

  it("a time that is due stands for those that were missed before it", () => {
    const due = dueTimes(hourly, at("09:00:00"), at("12:00:05"), MissedRunPolicy.ONCE);
    assert.deepEqual(due.run, [at("12:00:00")]);
  });

  it("a clock that is set back by an hour repeats nothing", () => {
    const done = at("12:00:00");
    for (let now = done - HOUR; now < done + HOUR; now += 5 * MINUTE) {
      assert.deepEqual(dueTimes(hourly, done, now, MissedRunPolicy.ALL).run, [], String(now));
    }
    assert.equal(dueTimes(hourly, done, done - HOUR, MissedRunPolicy.ALL).next, done + HOUR);
  });

  it("a clock that jumps ahead by an hour loses nothing", () => {
    const due = dueTimes(hourly, at("11:00:00"), at("12:59:00"), MissedRunPolicy.ONCE);
    assert.deepEqual(due.run, [at("12:00:00")]);
  });

  it("after years of minutes is known at once, the newest hundred at most", () => {
    const everyMinute = (afterMs: number) => nextRunMs("* * * * *", "UTC", afterMs);
    const due = dueTimes(
      everyMinute,
      at("00:00:00") - 3 * 365 * 24 * HOUR,
      at("00:00:30"),
      MissedRunPolicy.ALL,
    );
    // Two are still on time; a hundred are made up for.
    assert.equal(due.run.length, MISSED_MAX + 1);
    assert.equal(due.run.at(-1), at("00:00:00"));
    assert.equal(due.passed, at("00:00:00"));
  });

  it("of a rare schedule the last missed time is found, however long ago it was", () => {
    const yearly = (afterMs: number) => nextRunMs("0 0 1 1 *", "UTC", afterMs);
    const due = dueTimes(yearly, Date.parse("2019-06-01T00:00:00Z"), at("00:00:00"), MissedRunPolicy.ONCE);
    assert.deepEqual(due.run, [Date.parse("2026-01-01T00:00:00Z")]);
  });
});

describe("the name of a scheduled agent", () => {
  const ROWS: [string, string][] = [
    ["nightly", "nightly-20260301t0200z"],
    ["x".repeat(63), `${"x".repeat(48)}-20260301t0200z`],
    [`${"x".repeat(45)}._-y`, `${"x".repeat(45)}-20260301t0200z`],
  ];
  for (const [schedule, expected] of ROWS) {
    it(`of ${schedule} is ${expected}`, () => {
      const name = scheduledName(schedule, at("02:00:00"));
      assert.equal(name, expected);
      assert.match(name, /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/);
    });
  }
});
