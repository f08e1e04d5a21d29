import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ScheduleSchema } from "../../../../gen/retinue/v1/catalog_pb.js";
import { nextRunMs } from "../../../../src/domain/catalog/kinds/cron.js";
import { schedule } from "../../../../src/domain/catalog/kinds/schedule.js";
import { faultOf } from "../../fault-of.js";
import { callerWith, kindWrite } from "./kind-write.js";
import { type BadRow, describedRows, type GoodRow, testRows } from "./violation-rows.js";

const spawn = { description: "Look for broken links." };
const base = { cron: "0 2 * * *", spawn };
const described = describedRows(base);
const at = (cron: string) => ({ ...base, cron });
const messages = (agentId: object, description = "Go on.") => ({
  cron: "@daily",
  message: { agentId: { ...agentId }, description },
});

const good: GoodRow[] = [
  ...described.good,
  ...["* * * * *", "*/5 9-17 * * MON-FRI", "0 0 29 2 *", "0 0 L * *", "@hourly", "@yearly"].map(
    (cron): GoodRow => [`takes the times ${cron}`, at(cron)],
  ),
  ["takes a time zone", { ...base, timeZone: "Europe/Berlin" }],
  ["takes a service profile", { ...base, serviceProfile: "nightly" }],
  ["takes a message", messages({ agent: ["root", "child"], workspace: "docs" })],
  [
    "takes policies",
    { ...base, overlapPolicy: "OVERLAP_POLICY_QUEUE", missedRunPolicy: "MISSED_RUN_POLICY_ALL" },
  ],
];

const bad: BadRow[] = [
  ...described.bad,
  ["refuses no times", { spawn }, "cron", "required: minute hour"],
  ["refuses seconds", at("0 0 2 * * *"), "cron", "must be five fields"],
  ["refuses a date", at("2027-01-01T00:00:00"), "cron", "must be five fields"],
  ["refuses other nicknames", at("@reboot"), "cron", "@hourly, @daily"],
  ["refuses a minute that no hour has", at("61 * * * *"), "cron", "minute: 61"],
  ["refuses a day that never comes", at("0 0 31 2 *"), "cron", "never comes"],
  ["refuses an unknown time zone", { ...base, timeZone: "Mars/Olympus" }, "timeZone", "IANA"],
  ["refuses an offset, which knows no summer", { ...base, timeZone: "+01:00" }, "timeZone", "Europe/Berlin"],
  ["refuses nothing to do", { cron: "@daily" }, "spawn", "exactly one of spawn and message"],
  ["refuses an agent without work", { ...base, spawn: {} }, "spawn.description", "required"],
  ["refuses blank work", { ...base, spawn: { description: " \n" } }, "spawn.description", "required"],
  [
    "refuses an effort that its model's backend lacks",
    { ...base, spawn: { ...spawn, settings: { model: "script-a", reasoningEffort: "none" } } },
    "spawn.settings.reasoningEffort",
    "low",
  ],
  ["refuses a persona by no name", { ...base, spawn: { ...spawn, agent: "A B" } }, "spawn.agent", '"A B"'],
  ["refuses a message to nobody", messages({}), "message.agentId.agent", "required"],
  ["refuses a message to no name", messages({ agent: ["Root"] }), "message.agentId.agent[0]", '"Root"'],
  ["refuses an empty message", messages({ agent: ["root"] }, ""), "message.description", "required"],
];

testRows(schedule, good, bad);

const settle = (document: object, scopes: Parameters<typeof callerWith>[0]) =>
  schedule.settle?.(kindWrite(create(ScheduleSchema, document), callerWith(scopes)));
const spawning = { cron: "@daily", action: { case: "spawn", value: spawn } };

test("schedule: acts as who wrote it", () => {
  assert.equal(settle(spawning, ["agents:spawn"])?.document.actsAs, "codehost_oauth/alice");
});

test("schedule: its writer needs the scope of what it does", () => {
  assert.match(faultOf(() => settle(spawning, ["agents:message"])).message, /agents:spawn/);
  const messaging = { cron: "@daily", action: { case: "message", value: {} } };
  assert.match(faultOf(() => settle(messaging, ["agents:spawn"])).message, /agents:message/);
});

// cron, time zone, after, next
const times = [
  ["0 2 * * *", "", "2026-01-01T02:00:00Z", "2026-01-02T02:00:00Z"],
  ["0 2 * * *", "Europe/Berlin", "2026-01-01T00:59:59Z", "2026-01-01T01:00:00Z"],
  // Clocks jump from two to three: half past two is the moment after the gap.
  ["30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"],
  // Clocks go back from three to two: half past two comes twice and counts once.
  ["30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"],
  ["30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"],
] as const;

for (const [cron, timeZone, after, next] of times) {
  test(`schedule: after ${after}, '${cron}' ${timeZone} comes at ${next}`, () => {
    assert.equal(
      new Date(nextRunMs(cron, timeZone, Date.parse(after)) ?? 0).toISOString(),
      next.replace("Z", ".000Z"),
    );
  });
}
