import { join } from "node:path";
import { startEtcd } from "./etcd.js";
import type { Case } from "./measure.js";
import type { Preloads } from "./preload.js";
import { probe } from "./probe.js";
import type { ServerProcess } from "./process.js";
import { AGENTS, agentShapes, queueShapes, spawnWaiting } from "./queue-requests.js";
import { requestShapes } from "./requests.js";
import { type RetinueProcess, startRetinue } from "./retinue.js";

const SLOW_SYNC_US = 2000;

/** Nobody empties the queues while they are measured. */
export const LIMITLESS = ["--max-queued", "1000000"];

/** Queue-add on one agent and spread over all, beside whoami, with and without slow syncs, and etcd. */
export async function startQueueCases(
  tempDir: string,
  preloads: Preloads,
  started: ServerProcess[],
): Promise<{ readonly cases: readonly Case[]; readonly retinues: readonly RetinueProcess[] }> {
  const { grpcWhoami } = requestShapes(tempDir);
  const { spread, one } = queueShapes(tempDir);

  async function casesOf(suffix: string, env: Record<string, string>, inFlight: readonly number[]) {
    const server = await startRetinue(join(tempDir, `queue${suffix.replaceAll(" ", "-")}`), env, LIMITLESS);
    started.push(server);
    await spawnWaiting(server, AGENTS);
    const { key } = server;
    const ask = async (pick: (of: ReturnType<typeof agentShapes>) => Parameters<typeof probe>[1]) => {
      const answers: string[] = [];
      for (let i = 0; i < AGENTS; i++)
        answers.push(String(await probe(server.port, pick(agentShapes(i)), key)));
      return answers.map((answer) => JSON.parse(answer) as Record<string, string>);
    };
    const write = {
      server,
      key,
      names: AGENTS,
      slackBytes: 4,
      prepare: async () => void (await ask(({ httpClear }) => httpClear)),
      generations: async () =>
        (await ask(({ httpTip }) => httpTip)).reduce((sum, { lastSeq }) => sum + Number(lastSeq), 0),
    };
    const cases = inFlight.flatMap((count): Case[] => [
      { name: `whoami${suffix}`, server, key, request: grpcWhoami, inFlight: count },
      { name: `queue-add${suffix}`, ...write, request: spread, inFlight: count },
      { name: `queue-add to one agent${suffix}`, ...write, request: one, inFlight: count },
    ]);
    return { server, cases };
  }

  const fast = await casesOf("", {}, [1, 64, 256]);
  const slowly = { LD_PRELOAD: preloads.slowSync, SLOW_SYNC_US: String(SLOW_SYNC_US) };
  const slow = await casesOf(", 2 ms fsync", slowly, [1, 64, 256]);
  const etcd = await startEtcd(tempDir);
  if (etcd) started.push(etcd);
  else console.log("etcd is skipped: it is not installed (Debian's etcd-server).");
  const peer = etcd
    ? [1, 64, 256].map((inFlight): Case => {
        const request = etcd.conditionalWrite;
        return { name: "etcd, conditional write", server: etcd, key: "", request, inFlight };
      })
    : [];
  return { cases: [...fast.cases, ...peer, ...slow.cases], retinues: [fast.server, slow.server] };
}
