import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureDelivery } from "./delivery.js";
import { printFindings } from "./findings.js";
import { measureIdle } from "./idle.js";
import type { BenchOptions } from "./main.js";
import { measurePast } from "./past.js";
import { compilePreloads } from "./preload.js";
import { isInstalled, type ServerProcess } from "./process.js";
import { startQueueCases } from "./queue-cases.js";
import { printRatios, printTable, type Ratio } from "./report.js";
import { describeMachine, runRounds } from "./rounds.js";

const RATIOS: readonly (Ratio & { readonly inFlight: number })[] = [
  { of: "queue-add", to: "whoami", wanted: 0.85, inFlight: 64 },
  { of: "queue-add to one agent", to: "whoami", inFlight: 64 },
  { of: "queue-add", to: "etcd, conditional write", wanted: 1, inFlight: 64 },
  { of: "queue-add, 2 ms fsync", to: "whoami, 2 ms fsync", wanted: 0.75, inFlight: 64 },
  { of: "queue-add to one agent, 2 ms fsync", to: "whoami, 2 ms fsync", inFlight: 64 },
  { of: "queue-add", to: "whoami", inFlight: 256 },
  { of: "queue-add", to: "etcd, conditional write", inFlight: 256 },
  { of: "queue-add, 2 ms fsync", to: "whoami, 2 ms fsync", inFlight: 256 },
  { of: "queue-add", to: "whoami", inFlight: 1 },
  { of: "queue-add", to: "etcd, conditional write", inFlight: 1 },
];

/** The size of what is counted in numbers rather than in seconds. */
const FULL = { idleCalls: 10_000, finishedAgents: 100_000, deliveries: 300 };
const QUICK = { idleCalls: 2000, finishedAgents: 20_000, deliveries: 50 };

/** Durable queue-add, the way of a message to its agent, idle calls, and a store with a long past. */
export async function benchQueue(options: BenchOptions): Promise<void> {
  if (!isInstalled("h2load")) throw new Error("h2load is missing: install Debian's nghttp2-client");
  const tempDir = mkdtempSync(join(tmpdir(), "retinue-bench-"));
  process.on("exit", () => rmSync(tempDir, { recursive: true, force: true }));
  const size = options.quick ? QUICK : FULL;
  const started: ServerProcess[] = [];
  const failures: string[] = [];
  try {
    const preloads = await compilePreloads(tempDir);
    describeMachine(tempDir, preloads);
    if (preloads) {
      const { cases, retinues } = await startQueueCases(tempDir, preloads, started);
      const measured = await runRounds(cases, options, { tempDir, varyBody: preloads.varyBody });
      failures.push(...measured.failures);
      for (const retinue of retinues) failures.push(...(await retinue.failedCalls()));
      await Promise.all(started.splice(0).map((server) => server.stop()));
      console.log();
      printTable(measured.rows);
      for (const inFlight of [64, 256, 1]) {
        console.log();
        printRatios(
          measured.rows,
          RATIOS.filter((ratio) => ratio.inFlight === inFlight),
          inFlight,
        );
      }
    }
    printFindings(
      "From queue-add to a warm agent at rest:",
      await measureDelivery(tempDir, size.deliveries, started),
    );
    printFindings(`${size.idleCalls} idle calls, each:`, await measureIdle(tempDir, size.idleCalls, started));
    printFindings(
      `${size.finishedAgents} finished agents with ${10 * size.finishedAgents} events, against an empty store:`,
      await measurePast(tempDir, size.finishedAgents, options, started),
    );
    if (failures.length > 0) throw new Error(`these have failed:\n${failures.join("\n")}`);
  } finally {
    await Promise.all(started.map((server) => server.stop()));
  }
}
