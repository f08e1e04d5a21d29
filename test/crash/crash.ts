import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { agentProcesses } from "../support/agent-processes.js";
import { createLedger } from "./ledger.js";
import { createRandom } from "./random.js";
import { createTraffic } from "./traffic.js";
import { startVictim, type Victim } from "./victim.js";

/**
 * Rounds of random traffic against the real server, each ended by `kill -9` and a restart: what was acknowledged is
 * there, no log has a gap, nothing is delivered twice; in the end every agent comes to rest and no process is left.
 *
 *   node dist/test/crash/crash.js [--rounds 200] [--seed N]
 */
const { values } = parseArgs({ options: { rounds: { type: "string" }, seed: { type: "string" } } });
const rounds = Number(values.rounds ?? 200);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const CLIENTS = 4;
const TRAFFIC_MS = 900;
const SETTLE_MS = 120_000;
const ENDING_MS = 20_000;

const random = createRandom(seed);
const folder = mkdtempSync(join(tmpdir(), "retinue-crash-"));
const dataDir = join(folder, "data");
const ledger = createLedger();
const violations: string[] = [];
let passed = 0;
let victim: Victim | undefined;

console.log(`seed ${seed}, ${rounds} rounds, data in ${dataDir}`);
try {
  victim = await startVictim(dataDir);
  for (let round = 1; round <= rounds; round++) {
    victim = await crashRound(round, victim);
  }
  await settle(victim);
} catch (error) {
  violations.push(`the test itself: ${error instanceof Error ? error.stack : error}`);
} finally {
  await victim?.end("SIGTERM");
}
const left = await agentProcesses(dataDir);
if (left.length > 0) violations.push(`processes are left after the end: ${left.join(", ")}`);

for (const violation of violations) console.log(`VIOLATION ${violation}`);
if (violations.length === 0) rmSync(folder, { recursive: true, force: true });
else console.log(`seed ${seed}; the data is kept in ${dataDir}`);
console.log(`${passed} passed, ${violations.length} failed`);
process.exitCode = violations.length === 0 ? 0 : 1;

async function crashRound(round: number, running: Victim): Promise<Victim> {
  const startedAt = performance.now();
  const acknowledged = ledger.size;
  const traffic = createTraffic({ round, random, ledger, victim: running });
  const clients = Array.from({ length: CLIENTS }, (_, i) => traffic.client(i));
  await sleep(50 + random.below(TRAFFIC_MS));
  traffic.stop();
  await running.end("SIGKILL");
  await Promise.all(clients);
  const next = await startVictim(dataDir);
  const found = await ledger.check(next);
  violations.push(...found.map((text) => `round ${round}: ${text}`));
  if (found.length === 0) passed += 1;
  const ms = Math.round(performance.now() - startedAt);
  console.log(
    `round ${round}: ${ledger.size - acknowledged} acknowledged, ${found.length} violations, ${ms} ms`,
  );
  return next;
}

/** Traffic has stopped: each live agent must come to rest by itself. */
async function settle(running: Victim): Promise<void> {
  const giveUpAt = performance.now() + SETTLE_MS;
  for (;;) {
    const moving = await ledger.moving(running);
    if (moving.length === 0) break;
    if (performance.now() > giveUpAt) {
      violations.push(...moving.map((text) => `stuck: ${text}`));
      return;
    }
    await sleep(200);
  }
  const found = await ledger.check(running, { everything: true });
  violations.push(...found.map((text) => `at the end: ${text}`));
  const errors = await ledger.killAll(running);
  violations.push(...errors);
  console.log("settled: every agent came to rest, and was killed");
  // Processes of agents that completed are asked to end before they are made to.
  let left = await agentProcesses(dataDir);
  for (const lateAt = performance.now() + ENDING_MS; left.length > 0 && performance.now() < lateAt; ) {
    await sleep(200);
    left = await agentProcesses(dataDir);
  }
  if (left.length > 0) violations.push(`processes are left after all were killed: ${left.join(", ")}`);
}
