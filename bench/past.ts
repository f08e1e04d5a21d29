import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fillStore } from "./fill-store.js";
import type { Finding } from "./findings.js";
import type { BenchOptions } from "./main.js";
import { measure } from "./measure.js";
import { probe } from "./probe.js";
import type { ServerProcess } from "./process.js";
import { LIMITLESS } from "./queue-cases.js";
import { agentShapes, queueShapes, spawnAgents, spawnWaiting } from "./queue-requests.js";
import type { RequestShape } from "./requests.js";
import { type RetinueProcess, startRetinue } from "./retinue.js";

const IN_FLIGHT = 64;
const WANTED_TIMES = 1.5;
const WANTED_READY_S = 2;

/** The same calls on an empty store and on one that remembers so many agents, one after the other. */
export async function measurePast(
  tempDir: string,
  finished: number,
  options: BenchOptions,
  started: ServerProcess[],
): Promise<Finding[]> {
  const shapes = pastShapes(tempDir);
  const fullDir = join(tempDir, "past");
  const first = await startRetinue(fullDir);
  started.push(first);
  await spawnAgents(first, 1, { description: "@complete done" });
  await probe(first.port, agentShapes(0).httpWait, first.key);
  await first.stop();
  fillStore(fullDir, finished);

  const emptyAt = performance.now();
  const empty = await startRetinue(join(tempDir, "empty"), {}, LIMITLESS);
  started.push(empty);
  const fullAt = performance.now();
  const full = await startRetinue(fullDir, {}, LIMITLESS);
  started.push(full);
  const readyAt = performance.now();
  for (const server of [empty, full]) await spawnWaiting(server, 1);

  const findings: Finding[] = [
    { name: "ready, empty", value: (fullAt - emptyAt) / 1000, unit: "s", digits: 2 },
    { name: "ready, full", value: (readyAt - fullAt) / 1000, unit: "s", digits: 2, atMost: WANTED_READY_S },
  ];
  for (const [name, request] of shapes) {
    const once = (server: RetinueProcess) => sampleOf(name, server, request, options, tempDir);
    const [of, to] = [await once(full), await once(empty)];
    const times = to.requestsPerSecond / of.requestsPerSecond;
    findings.push({
      name: `${name}, full ÷ empty`,
      value: times,
      unit: "×",
      digits: 2,
      atMost: WANTED_TIMES,
    });
    const byCpu = of.mainCpuUs / to.mainCpuUs;
    findings.push({ name: `${name}, by main-thread CPU`, value: byCpu, unit: "×", digits: 2 });
  }
  await Promise.all([empty.stop(), full.stop()]);
  return findings;
}

function sampleOf(
  name: string,
  server: RetinueProcess,
  request: RequestShape,
  { seconds, warmUpSeconds }: BenchOptions,
  tempDir: string,
) {
  const { key } = server;
  const prepare = async () => void (await probe(server.port, agentShapes(0).httpClear, key));
  return measure(
    { name, server, request, inFlight: IN_FLIGHT, key, prepare, slackBytes: 8 },
    { seconds, warmUpSeconds, tempDir, varyBody: undefined },
  );
}

function pastShapes(tempDir: string): readonly (readonly [string, RequestShape])[] {
  const file = (name: string, path: string, body: Buffer): RequestShape => {
    const bodyFile = join(tempDir, name);
    writeFileSync(bodyFile, body);
    return { protocol: "http1", paths: [path], body, bodyFile };
  };
  const { httpStatus } = agentShapes(0);
  const list = Buffer.from(JSON.stringify({ account: "" }));
  return [
    ["status", file("status.json", "/v1/agent/status", httpStatus.body)],
    ["list", file("list.json", "/v1/agents", list)],
    ["queue-add", { ...queueShapes(tempDir).one }],
  ];
}
