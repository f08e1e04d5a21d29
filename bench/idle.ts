import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Finding } from "./findings.js";
import { openIdle } from "./idle-calls.js";
import { type Memory, memoryOf, memoryProbe } from "./memory.js";
import { probe } from "./probe.js";
import type { ServerProcess } from "./process.js";
import { agentShapes, spawnWaiting } from "./queue-requests.js";
import type { RequestShape } from "./requests.js";
import { type RetinueProcess, startRetinue } from "./retinue.js";

const AGENTS = 4;
const WANTED_KB = 20;
const SETTLE_WITHIN_MS = 60_000;

type Shapes = ReturnType<typeof agentShapes>;
const SORTS: readonly (readonly [name: string, shape: (of: Shapes) => RequestShape, streams: boolean])[] = [
  ["gRPC watch", ({ grpcWatch }) => grpcWatch, true],
  ["gRPC wait", ({ grpcWait }) => grpcWait, false],
  ["/v1 watch", ({ httpWatch }) => httpWatch, true],
  ["/v1 wait", ({ httpWait }) => httpWait, false],
];

/** What a call costs that is open and has nothing to say: so many of each sort, each on a server of its own. */
export async function measureIdle(
  tempDir: string,
  count: number,
  started: ServerProcess[],
): Promise<Finding[]> {
  const file = join(tempDir, "memory.json");
  const limits = ["--max-open-streams", String(2 * count), "--max-connections", String(2 * count)];
  const findings: Finding[] = [];
  for (const [at, [name, shape, streams]] of SORTS.entries()) {
    const server = await startRetinue(join(tempDir, `idle-${at}`), memoryProbe(file), limits);
    started.push(server);
    await spawnWaiting(server, AGENTS);
    const shapes = Array.from({ length: AGENTS }, (_, i) => shape(agentShapes(i)));
    // Code that is compiled by the first calls, and pools that they fill, belong to no call.
    await measureOne(server, file, shapes, Math.ceil(count / 20), streams);
    const each = await measureOne(server, file, shapes, count, streams);
    findings.push({ name, value: each.rss / 1000, unit: "kB", atMost: WANTED_KB });
    findings.push({ name: `${name}, of it JavaScript`, value: each.heapUsed / 1000, unit: "kB" });
    await server.stop();
  }
  return findings;
}

async function measureOne(
  server: RetinueProcess,
  file: string,
  shapes: readonly RequestShape[],
  count: number,
  streams: boolean,
): Promise<Memory> {
  await openCalls(server, 0);
  const before = await memoryOf(server.pid, file);
  const calls = await openIdle(server.port, server.key, shapes, count, streams);
  await openCalls(server, count);
  const after = await memoryOf(server.pid, file);
  await calls.close();
  const each = (of: (memory: Memory) => number) => (of(after) - of(before)) / count;
  return {
    rss: each(({ rss }) => rss),
    heapUsed: each(({ heapUsed }) => heapUsed),
    external: each(({ external }) => external),
  };
}

/** By the server's own count. */
async function openCalls(server: RetinueProcess, count: number): Promise<void> {
  const giveUpAt = performance.now() + SETTLE_WITHIN_MS;
  for (;;) {
    const text = String(await probe(server.port, { protocol: "http1", paths: ["/metrics"] }, server.key));
    const open = Number(/^retinue_open_calls (\d+)$/m.exec(text)?.[1]);
    if (open === count) return;
    if (performance.now() > giveUpAt) throw new Error(`${open} calls are open, not ${count}`);
    await sleep(100);
  }
}
