import { once } from "node:events";
import http from "node:http";
import { join } from "node:path";
import type { Finding } from "./findings.js";
import { probe } from "./probe.js";
import type { ServerProcess } from "./process.js";
import { agentShapes, spawnAgents } from "./queue-requests.js";
import { requestHeaders } from "./requests.js";
import { startRetinue } from "./retinue.js";

const WANTED_MS = 2;
const WARM_UPS = 20;

/**
 * One message after the other to an agent that rests with its process warm. Seen from outside, by a watch: the commit
 * that delivers the message, and the first word of the agent, which cannot come before its prompt was written, so that
 * the prompt lies between the two.
 */
export async function measureDelivery(
  tempDir: string,
  count: number,
  started: ServerProcess[],
): Promise<Finding[]> {
  const server = await startRetinue(join(tempDir, "delivery"));
  started.push(server);
  const { port, key } = server;
  await spawnAgents(server, 1, { description: "@say ready" });
  const { httpWait, httpWatch, httpQueue } = agentShapes(0);
  await probe(port, httpWait, key);
  const request = http.request({
    port,
    host: "127.0.0.1",
    method: "POST",
    path: httpWatch.paths[0],
    headers: requestHeaders(httpWatch, key),
  });
  request.on("error", () => {});
  request.end(httpWatch.body);
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const seen = new Map<string, number>();
  let wake = () => {};
  response.on("error", () => {});
  response.on("data", (chunk: Buffer) => {
    const text = String(chunk);
    if (text.includes("EVENT_TYPE_FOLLOW_UP_DELIVERED")) seen.set("delivered", performance.now());
    if (text.includes('"liveText"') && !seen.has("word")) seen.set("word", performance.now());
    wake();
  });
  const delivered: number[] = [];
  const words: number[] = [];
  for (let i = 0; i < count + WARM_UPS; i++) {
    seen.clear();
    const sentAt = performance.now();
    await probe(port, httpQueue, key);
    while (seen.size < 2) await new Promise<void>((resolve) => (wake = resolve));
    if (i >= WARM_UPS) {
      delivered.push((seen.get("delivered") ?? 0) - sentAt);
      words.push((seen.get("word") ?? 0) - sentAt);
    }
    // At rest again, or the next message would find a turn.
    await probe(port, httpWait, key);
  }
  request.destroy();
  await server.stop();
  const p50 = (of: number[]) => of.toSorted((a, b) => a - b)[of.length >> 1] ?? Number.NaN;
  return [
    { name: "delivered, p50", value: p50(delivered), unit: "ms", digits: 2 },
    { name: "the agent's first word, p50", value: p50(words), unit: "ms", digits: 2, atMost: WANTED_MS },
  ];
}
