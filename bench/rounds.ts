import { statfsSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import type { BenchOptions } from "./main.js";
import { type Case, type Measure, measure } from "./measure.js";
import type { Preloads } from "./preload.js";
import type { Row } from "./report.js";

const TMPFS_MAGIC = 0x01021994;
/** Between rounds code stays compiled; connections and caches need a moment all the same. */
const REPEATED_WARM_UP_S = 0.5;

export function describeMachine(tempDir: string, preloads: Preloads | undefined): void {
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
export async function runRounds(
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
        console.log(`${label}: failed, ${(error as Error).message}`);
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
