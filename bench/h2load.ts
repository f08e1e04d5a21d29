import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "./process.js";

/** A request as h2load repeats it. */
export interface Load {
  readonly port: number;
  /** gRPC goes over HTTP/2, `/v1` over HTTP/1.1. */
  readonly protocol: "grpc" | "http1";
  /** Used in turn. */
  readonly paths: readonly string[];
  readonly headers: readonly string[];
  /** Makes it a POST. */
  readonly bodyFile?: string;
  /** For a body that differs every time, see vary-body.c. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Mean size of a body that came back. */
  readonly answerBytes: number;
}

const HTTP2_CONNECTIONS = 8;
/** For h2load to connect, and to read and write its files. */
const SLACK_MS = 10_000;

/** Keeps so many requests in flight for so long, from a process of its own. Throws if an answer is not a 2xx. */
export async function h2load(
  load: Load,
  inFlight: number,
  seconds: number,
  tempDir: string,
): Promise<LoadResult> {
  const log = join(tempDir, "h2load.log");
  rmSync(log, { force: true });
  const args = [
    ...shape(load.protocol, inFlight),
    // Without a unit h2load takes whole seconds only.
    `--duration=${seconds * 1000}ms`,
    `--log-file=${log}`,
    ...load.headers.flatMap((header) => ["-H", header]),
    ...(load.bodyFile === undefined ? [] : ["-d", load.bodyFile]),
    ...load.paths.map((path) => `http://127.0.0.1:${load.port}${path}`),
  ];
  const output = await run("h2load", args, seconds * 1000 + SLACK_MS, load.env);
  const [done, succeeded] = numbers(output, /requests: \d+ total, \d+ started, (\d+) done, (\d+) succeeded/);
  if (succeeded !== done) {
    throw new Error(`${done} requests were answered, ${succeeded} of them with a 2xx:\n${output}`);
  }
  const [dataBytes] = numbers(output, /\((\d+)\) data/);
  const latencies = readLatencies(log);
  return {
    requests: done,
    requestsPerSecond: done / seconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    answerBytes: dataBytes / done,
  };
}

/** HTTP/2 shares a few connections, as clients do; HTTP/1.1 has one request on each. */
function shape(protocol: Load["protocol"], inFlight: number): string[] {
  if (protocol === "http1") return ["--h1", "-t1", `-c${inFlight}`, "-m1"];
  const connections = Math.min(inFlight, HTTP2_CONNECTIONS);
  return ["-t1", `-c${connections}`, `-m${inFlight / connections}`];
}

function numbers(output: string, pattern: RegExp): [number, number] {
  const match = pattern.exec(output);
  if (match === null) throw new Error(`h2load has not printed ${pattern}:\n${output}`);
  return [Number(match[1]), Number(match[2])];
}

/** Each line: when the request began, the status, how many microseconds it took. */
function readLatencies(log: string): Float64Array {
  const lines = readFileSync(log, "latin1").trimEnd().split("\n");
  return Float64Array.from(lines, (line) => Number(line.split("\t")[2]) / 1000).sort();
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
