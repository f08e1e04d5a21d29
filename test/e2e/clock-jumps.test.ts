import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createAgentCaller, until } from "../support/agents.js";
import { temporaryFolder } from "../support/folder.js";
import { startServe } from "../support/process.js";
import { encode, rest } from "../support/server.js";

/** Sets the clock of a process that has it preloaded, while it runs. */
const LIBRARY = findLibrary();
/** Longer than the server goes without looking at its schedules. */
const A_LOOK_MS = 6000;

function findLibrary(): string | undefined {
  const folders = existsSync("/usr/lib") ? readdirSync("/usr/lib") : [];
  const files = folders.map((folder) => `/usr/lib/${folder}/faketime/libfaketimeMT.so.1`);
  return files.find((file) => existsSync(file));
}

test("a clock that jumps by an hour fires no schedule twice, and loses no time and no message", {
  skip: LIBRARY === undefined && "libfaketime is not installed",
  timeout: 180_000,
}, async () => {
  const file = join(temporaryFolder(), "offset");
  let offsetMs = 0;
  const setClock = (text: string) => {
    offsetMs = Date.parse(`2027-03-02T${text}Z`) - Date.now();
    writeFileSync(file, `+${(offsetMs / 1000).toFixed(3)}`);
  };
  setClock("09:59:50");
  const env = {
    LD_PRELOAD: LIBRARY as string,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    // Timers run on: what jumps is the time of day.
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    DONT_FAKE_MONOTONIC: "1",
  };
  const server = await startServe({ env });
  const agents = createAgentCaller(server, server.adminKey);
  await agents.spawn("sleeper", "@say ready");
  await agents.wait("sleeper");
  const message = { description: "@complete woken", deliverAt: "2027-03-02T10:30:00Z" };
  await agents.queue("sleeper", message.description, message);
  const schedule = {
    cron: "0 * * * *",
    overlapPolicy: "OVERLAP_POLICY_ALLOW",
    spawn: { description: "@complete x" },
  };
  const put = await rest(server, server.adminKey, "POST", "/v1/catalog/schedule/hourly", {
    payload: encode(schedule),
  });
  assert.equal(put.status, 200, JSON.stringify(put.body));
  const started = async () => {
    const { body } = await rest(server, server.adminKey, "POST", "/v1/agents", { includeTerminal: true });
    const names = (body.entries as { agentId: { agent: string[] } }[]).map(
      ({ agentId }) => agentId.agent[0] ?? "",
    );
    return names
      .filter((name) => name.startsWith("hourly-"))
      .map((name) => name.slice(-6, -1))
      .sort();
  };
  const untilStarted = (times: string[]) =>
    until(`there are ${times}`, started, (seen) => seen.length >= times.length).then((seen) =>
      assert.deepEqual(seen, times),
    );

  await untilStarted(["t1000"]);
  assert.equal((await agents.status("sleeper")).phase, "PHASE_SLEEPING");
  setClock("11:01:00");
  await untilStarted(["t1000", "t1100"]);
  assert.equal((await agents.wait("sleeper")).status.result, "woken");
  setClock("10:01:00");
  await sleep(A_LOOK_MS);
  assert.deepEqual(await started(), ["t1000", "t1100"]);
  setClock("10:59:58");
  await sleep(A_LOOK_MS);
  assert.deepEqual(await started(), ["t1000", "t1100"]);
  setClock("11:59:58");
  await untilStarted(["t1000", "t1100", "t1200"]);
});
