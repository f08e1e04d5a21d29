import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { startCases } from "./cases.js";
import type { BenchOptions } from "./main.js";
import { type Case, type Measure, measure } from "./measure.js";
import { compilePreloads, type Preloads } from "./preload.js";
import { isInstalled, type ServerProcess } from "./process.js";
import { printRatios, printTable, type Ratio, type Row } from "./report.js";
import { DOCUMENTS } from "./requests.js";

const TMPFS_MAGIC = 0x01021994;
/** Between rounds code stays compiled; connections and caches need a moment all the same. */
const REPEATED_WARM_UP_S = 0.5;

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

function describeMachine(tempDir: string, preloads: Preloads | undefined): void {
  const load = loadavg()[0]?.toFixed(1);
  console.log(
    `Node ${process.version}, ${cpus().length} CPUs, load ${load} before the start, data in ${tempDir}`,
  );
  if (statfsSync(tempDir).type === TMPFS_MAGIC) {
    console.log("The data lies in memory, where a sync costs nothing: set TMPDIR to a folder on a disk.");
  }
  if (preloads === undefined) {
    console.log("Durable writes and slow syncs are skipped: both need a C compiler (cc), and there is none.");
  }
}

/** Every case runs once per round, so that whatever else the machine does is spread over all of them. */
async function runRounds(
  cases: readonly Case[],
  options: BenchOptions,
  where: Pick<Measure, "tempDir" | "varyBody">,
): Promise<{ rows: Row[]; failures: string[] }> {
  // One request in flight comes last: by then the servers are warm, and it takes less time to measure.
  const ordered = cases.toSorted((a, b) => b.inFlight - a.inFlight);
  const rows = ordered.map((one) => ({ case: one, samples: [] as Row["samples"][number][] }));
  const failures: string[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const { case: one, samples } of rows) {
      const label = `round ${round}/${options.rounds}  ${one.name}, ${one.inFlight} in flight`;
      try {
        const sample = await measure(one, { ...where, ...timesOf(one, round, options) });
        samples.push(sample);
        console.log(`${label}: ${sample.requestsPerSecond.toFixed(0)} req/s`);
      } catch (error) {
        samples.push(undefined);
        failures.push(`${label}: ${(error as Error).message}`);
        console.log(`${label}: failed`);
      }
    }
  }
  return { rows, failures };
}

function timesOf({ inFlight }: Case, round: number, { seconds, warmUpSeconds }: BenchOptions) {
  const many = inFlight > 1;
  return {
    warmUpSeconds: round === 1 && many ? warmUpSeconds : REPEATED_WARM_UP_S,
    seconds: many ? seconds : seconds / 2,
  };
}
