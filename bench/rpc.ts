import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCases } from "./cases.js";
import type { BenchOptions } from "./main.js";
import { compilePreloads } from "./preload.js";
import { isInstalled, type ServerProcess } from "./process.js";
import { printRatios, printTable, type Ratio } from "./report.js";
import { DOCUMENTS } from "./requests.js";
import { describeMachine, runRounds } from "./rounds.js";

const RATIOS: readonly Ratio[] = [
  { of: "gRPC whoami", to: "gRPC no-op, grpc-js", wanted: 1 },
  { of: "gRPC durable write", to: "gRPC whoami", wanted: 0.85 },
  { of: "gRPC durable write, 2 ms fsync", to: "gRPC whoami, 2 ms fsync", wanted: 0.75 },
  { of: "/v1 whoami", to: "/v1 no-op, Fastify", wanted: 0.8 },
  { of: "/v1 durable write", to: "/v1 whoami" },
  { of: "gRPC durable write, one document", to: "gRPC whoami" },
  { of: "gRPC catalog read", to: "gRPC whoami" },
  { of: "/v1 catalog read", to: "/v1 whoami" },
  { of: "gRPC whoami", to: "gRPC no-op, raw http2" },
];

/** Calls over gRPC and `/v1`, at 64 and at 1 in flight, beside servers that do nothing. */
export async function benchRpc(options: BenchOptions): Promise<void> {
  if (!isInstalled("h2load")) throw new Error("h2load is missing: install Debian's nghttp2-client");
  const tempDir = mkdtempSync(join(tmpdir(), "retinue-bench-"));
  process.on("exit", () => rmSync(tempDir, { recursive: true, force: true }));
  const started: ServerProcess[] = [];
  try {
    const preloads = await compilePreloads(tempDir);
    describeMachine(tempDir, preloads);
    const { cases, retinues } = await startCases(tempDir, preloads, started);
    const { rows, failures } = await runRounds(cases, options, { tempDir, varyBody: preloads?.varyBody });
    for (const retinue of retinues) failures.push(...(await retinue.failedCalls()));

    console.log();
    printTable(rows);
    console.log(`\nDurable writes change ${DOCUMENTS} documents in turn, or one where it says so.\n`);
    printRatios(rows, RATIOS, 64);
    if (failures.length > 0) throw new Error(`these have failed:\n${failures.join("\n")}`);
  } finally {
    await Promise.all(started.map((server) => server.stop()));
  }
}
