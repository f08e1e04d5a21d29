import type { Case, Sample } from "./measure.js";

/** What was measured of a case, one sample per round; undefined where it failed. */
export interface Row {
  readonly case: Case;
  readonly samples: readonly (Sample | undefined)[];
}

/** A comparison of the throughput of two cases. */
export interface Ratio {
  readonly of: string;
  readonly to: string;
  /** Undefined: only shown. */
  readonly wanted?: number;
}

const HEAD = [
  "case",
  "in flight",
  "req/s",
  "min–max",
  "p50 ms",
  "p99 ms",
  "server CPU µs",
  "main thread µs",
  "changed",
];

export function printTable(rows: readonly Row[]): void {
  const cells = rows.map(({ case: { name, inFlight }, samples }) => {
    const measured = samples.filter((sample) => sample !== undefined);
    if (measured.length === 0) return [name, String(inFlight), "failed", "", "", "", "", "", ""];
    const mid = (pick: (sample: Sample) => number) => median(measured.map(pick));
    const rates = measured.map((sample) => sample.requestsPerSecond);
    const changed = measured.flatMap((sample) => sample.changed ?? []);
    return [
      name,
      String(inFlight),
      median(rates).toFixed(0),
      range(rates, 0),
      mid((sample) => sample.p50Ms).toFixed(2),
      mid((sample) => sample.p99Ms).toFixed(2),
      mid((sample) => sample.cpuUs).toFixed(0),
      mid((sample) => sample.mainCpuUs).toFixed(0),
      changed.length === 0 ? "" : `${(Math.min(...changed) * 100).toFixed(1)} %`,
    ];
  });
  const widths = HEAD.map((head, i) => Math.max(head.length, ...cells.map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(" | ")} |`;
  const rule = `|${widths.map((width, i) => (i === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  console.log([line(HEAD), rule, ...cells.map(line)].join("\n"));
}

/**
 * Ratios of throughput, and what they would be if the main thread's CPU were all that counts: where other programs
 * keep the machine busy, the second one is steadier.
 */
export function printRatios(rows: readonly Row[], ratios: readonly Ratio[], inFlight: number): void {
  const here = rows.filter((row) => row.case.inFlight === inFlight);
  const texts = ratios.map(({ of, to }) => `${of} ÷ ${to}`);
  const width = Math.max(...texts.map((text) => text.length));
  console.log(`Throughput at ${inFlight} in flight, median of the rounds (min–max) and by main-thread CPU:`);
  for (const [i, ratio] of ratios.entries()) {
    const values = roundRatios(here, ratio, (of, to) => of.requestsPerSecond / to.requestsPerSecond);
    const byCpu = median(roundRatios(here, ratio, (of, to) => to.mainCpuUs / of.mainCpuUs));
    const value =
      values.length === 0
        ? "not measured"
        : `${median(values).toFixed(2)} (${range(values, 2)})  ${byCpu.toFixed(2)}`;
    console.log(
      `${texts[i]?.padEnd(width)}  ${value.padEnd(22)}  ${verdict(ratio.wanted, values)}`.trimEnd(),
    );
  }
}

/**
 * A ratio per round rather than one of the medians: the two cases of a round ran shortly one after the other, so
 * what else the machine was doing weighs on both.
 */
function roundRatios(
  rows: readonly Row[],
  { of, to }: Ratio,
  compare: (of: Sample, to: Sample) => number,
): number[] {
  const samplesOf = (name: string) => rows.find((row) => row.case.name === name)?.samples ?? [];
  const others = samplesOf(to);
  return samplesOf(of).flatMap((sample, round) => {
    const other = others[round];
    return sample && other ? compare(sample, other) : [];
  });
}

function verdict(wanted: number | undefined, values: readonly number[]): string {
  if (wanted === undefined) return "";
  const asked = `wanted ≥ ${wanted.toFixed(2)}`;
  if (values.length === 0) return asked;
  return `${asked}  ${median(values) >= wanted ? "ok" : "MISSED"}`;
}

function range(values: readonly number[], digits: number): string {
  return `${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)}`;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}
