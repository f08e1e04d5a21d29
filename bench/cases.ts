import { join } from "node:path";
import type { Case } from "./measure.js";
import type { Preloads } from "./preload.js";
import { probe } from "./probe.js";
import { type ServerProcess, startServer } from "./process.js";
import { requestShapes } from "./requests.js";
import { type RetinueProcess, startRetinue } from "./retinue.js";

const SLOW_SYNC_US = 2000;
const MANY = 64;

export interface Field {
  readonly cases: readonly Case[];
  readonly retinues: readonly RetinueProcess[];
}

/** Starts every server and says what is asked of each. `started` grows as they start, so that all can be stopped. */
export async function startCases(
  tempDir: string,
  preloads: Preloads | undefined,
  started: ServerProcess[],
): Promise<Field> {
  async function start<S extends ServerProcess>(starting: Promise<S>): Promise<S> {
    const server = await starting;
    started.push(server);
    return server;
  }
  const shapes = requestShapes(tempDir);
  const retinue = await start(startRetinue(join(tempDir, "data")));
  const { key } = retinue;
  const env = { BENCH_WHOAMI: String(await probe(retinue.port, shapes.httpWhoami, key)) };
  const raw = await start(startServer("./servers/raw-http2.js", [], env));
  const grpcJs = await start(startServer("./servers/grpc-js.js", [], env));
  const plain = await start(startServer("./servers/fastify-json.js", [], env));
  // What is read must be there, also where nothing else is written.
  await probe(retinue.port, shapes.grpcWrite, key);

  const read = { server: retinue, key };
  const write = { ...read, generations: retinue.generations };
  // Those that are compared stand next to each other.
  const cases: Case[] = [
    ...both({ name: "gRPC no-op, raw http2", server: raw, key, request: shapes.grpcWhoami }),
    ...both({ name: "gRPC no-op, grpc-js", server: grpcJs, key, request: shapes.grpcWhoami }),
    ...both({ name: "gRPC whoami", ...read, request: shapes.grpcWhoami }),
    ...both({ name: "gRPC durable write", ...write, request: shapes.grpcWrite }),
    many({ name: "gRPC durable write, one document", ...write, request: shapes.grpcWriteOne }),
    ...both({ name: "gRPC catalog read", ...read, request: shapes.grpcRead }),
    ...both({ name: "/v1 no-op, Fastify", server: plain, key, request: shapes.httpWhoami }),
    ...both({ name: "/v1 whoami", ...read, request: shapes.httpWhoami }),
    ...both({ name: "/v1 durable write", ...write, request: shapes.httpWrite }),
    ...both({ name: "/v1 catalog read", ...read, request: shapes.httpRead }),
  ];
  if (preloads === undefined) {
    return { cases: cases.filter(({ request }) => request.vary === undefined), retinues: [retinue] };
  }

  const slowly = { LD_PRELOAD: preloads.slowSync, SLOW_SYNC_US: String(SLOW_SYNC_US) };
  const slow = await start(startRetinue(join(tempDir, "slow-data"), slowly));
  const slowRead = { server: slow, key: slow.key };
  const slowWrite = { ...slowRead, generations: slow.generations };
  cases.push(
    many({ name: "gRPC whoami, 2 ms fsync", ...slowRead, request: shapes.grpcWhoami }),
    ...both({ name: "gRPC durable write, 2 ms fsync", ...slowWrite, request: shapes.grpcWrite }),
  );
  return { cases, retinues: [retinue, slow] };
}

function many(one: Omit<Case, "inFlight">): Case {
  return { ...one, inFlight: MANY };
}

function both(one: Omit<Case, "inFlight">): Case[] {
  return [many(one), { ...one, inFlight: 1 }];
}
