import { setTimeout as sleep } from "node:timers/promises";
import { h2load, type Load } from "./h2load.js";
import { probe } from "./probe.js";
import { cpuUse, type ServerProcess } from "./process.js";
import { DOCUMENTS, type RequestShape, requestHeaders } from "./requests.js";

/** One row of the table. */
export interface Case {
  readonly name: string;
  readonly server: ServerProcess;
  readonly request: RequestShape;
  readonly inFlight: number;
  readonly key: string;
  /** Only for writes: counts what was really committed, at least one for each. */
  readonly generations?: () => Promise<number>;
  /** Names that the varied body takes in turn. */
  readonly names?: number;
  /** Bytes by which a good answer may be shorter than the first: numbers in it have as many digits as they need. */
  readonly slackBytes?: number;
  /** Puts the server into the state that it is measured in. */
  readonly prepare?: () => Promise<void>;
}

export interface Sample {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuUs: number;
  /** Of `cpuUs`, what the main thread used. */
  readonly mainCpuUs: number;
  /** Share of the writes that made a new generation. */
  readonly changed: number | undefined;
}

export interface Measure {
  readonly warmUpSeconds: number;
  readonly seconds: number;
  readonly tempDir: string;
  /** Path of the object that makes h2load vary a body. */
  readonly varyBody: string | undefined;
}

const LEAST_CHANGED = 0.8;
/**
 * A gRPC call that fails has an answer without a body. A little is allowed for: the stamps in a document are shorter
 * on a full second. There is no upper bound, as h2load counts the bytes of answers that it cuts off at the end.
 */
const SIZE_TOLERANCE = 0.01;
/** For what h2load left in flight. */
const SETTLE_MS = 50;

export async function measure(one: Case, how: Measure): Promise<Sample> {
  const { server, request, inFlight, key, generations } = one;
  const load = loadOf(one, how.varyBody);
  await one.prepare?.();
  const expected = (await probe(server.port, request, key)).length;
  await h2load(load, inFlight, how.warmUpSeconds, how.tempDir);
  await sleep(SETTLE_MS);

  const before = await generations?.();
  const cpuBefore = cpuUse(server.pid);
  const result = await h2load(load, inFlight, how.seconds, how.tempDir);
  const cpu = cpuUse(server.pid);
  await sleep(SETTLE_MS);
  const after = await generations?.();

  if (result.requests === 0) throw new Error("nothing was answered");
  if (result.answerBytes < expected * (1 - SIZE_TOLERANCE) - (one.slackBytes ?? 0)) {
    const bytes = result.answerBytes.toFixed(1);
    throw new Error(`answers have ${bytes} bytes, a good one has ${expected}: calls have failed`);
  }
  const { requests, requestsPerSecond, p50Ms, p99Ms } = result;
  const perRequestUs = (seconds: number) => (seconds / requests) * 1e6;
  const cpuUs = perRequestUs(cpu.seconds - cpuBefore.seconds);
  const mainCpuUs = perRequestUs(cpu.mainSeconds - cpuBefore.mainSeconds);
  const changed =
    before === undefined || after === undefined ? undefined : Math.min(1, (after - before) / requests);
  if (changed !== undefined && changed < LEAST_CHANGED) {
    throw new Error(`only ${(changed * 100).toFixed(1)} % of the writes changed anything`);
  }
  return { requestsPerSecond, p50Ms, p99Ms, cpuUs, mainCpuUs, changed };
}

function loadOf({ server, request, key, names = DOCUMENTS }: Case, varyBody: string | undefined): Load {
  const { protocol, paths, bodyFile, vary } = request;
  const headers = Object.entries(requestHeaders(request, key)).map(([name, value]) => `${name}: ${value}`);
  const load = {
    port: server.port,
    protocol,
    paths,
    headers,
    ...(bodyFile === undefined ? {} : { bodyFile }),
  };
  if (vary === undefined || varyBody === undefined) return load;
  return { ...load, env: { LD_PRELOAD: varyBody, VARY_BODY: vary, VARY_NAMES: String(names) } };
}
