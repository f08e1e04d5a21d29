import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { after, before, type TestContext } from "node:test";
import { create, fromBinary, type Message } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import grpc from "@grpc/grpc-js";
import { type FastifyInstance, fastify } from "fastify";
import type { Code } from "../../gen/google/rpc/code_pb.js";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { StatusSchema } from "../../gen/google/rpc/status_pb.js";
import { CatalogService } from "../../gen/retinue/v1/catalog_service_pb.js";
import { IdentityService } from "../../gen/retinue/v1/identity_service_pb.js";
import { TimelineService } from "../../gen/retinue/v1/timeline_service_pb.js";
import type { Fault } from "../../src/domain/fault.js";
import { type Call, decoded, type Incoming } from "../../src/transport/call.js";
import { registerConnect } from "../../src/transport/connect/register-connect.js";
import { createGrpcLane } from "../../src/transport/grpc/lane.js";
import { createHealth, type HealthService } from "../../src/transport/health.js";
import type { Handler } from "../../src/transport/port/http1-server.js";
import { createPort, type Port } from "../../src/transport/port/port.js";
import { reflectionRoutes } from "../../src/transport/reflection/reflection.js";
import { type Rpc, rpcTable } from "../../src/transport/rpc.js";

/** Services whose handlers are never reached: the tests stand in for `call`. */
const SERVICES = [IdentityService, CatalogService, TimelineService].map((desc) => ({
  desc,
  handlers: Object.fromEntries(desc.methods.map((method) => [method.localName, () => {}])),
}));

export interface Served {
  readonly url: string;
  readonly address: string;
  readonly health: HealthService;
  /** For each HTTP/2 stream, whether the short lane took it. */
  readonly laneTook: boolean[];
  /** What was logged as an error. */
  readonly logged: unknown[];
  readonly shutdown: AbortController;
}

export interface Answers {
  unary?(rpc: Rpc, request: Message, incoming: Incoming): Promise<unknown>;
  stream?(rpc: Rpc, request: Message, incoming: Incoming): AsyncIterable<unknown>;
}

/** The tests' answers as `call` gives them: whole messages. */
function callOf({ unary, stream }: Answers): Call {
  return {
    async unary(rpc, request, incoming) {
      return create(rpc.method.output, (await unary?.(rpc, decoded(request), incoming)) as Message);
    },
    async *stream(rpc, request, incoming) {
      for await (const reply of stream?.(rpc, decoded(request), incoming) ?? [])
        yield create(rpc.method.output, reply as Message);
    },
  };
}

/** A server on loopback with everything but the gateway, gone when the test is. */
export async function serve(
  t: { after(cleanup: () => unknown): void },
  answers: Answers,
  { requestTimeoutMs = 10_000, maxWatchers = 1000, slowReaderMs = 60_000 } = {},
): Promise<Served> {
  const call = callOf(answers);
  const laneTook: boolean[] = [];
  const logged: unknown[] = [];
  const log = { error: (entry: unknown) => void logged.push(entry) };
  const shutdown = new AbortController();
  const rpcs = rpcTable(SERVICES);
  const health = createHealth(
    SERVICES.map(({ desc }) => desc.typeName),
    maxWatchers,
  );
  const lane = createGrpcLane(rpcs, call, { requestTimeoutMs, slowReaderMs, log });
  const state: { port?: Port } = {};
  const app = fastify({
    serverFactory: (handler) => {
      state.port = createPort(handler as Handler, {
        maxConnections: 100,
        headersTimeoutMs: 5000,
        requestTimeoutMs: 10_000,
        onStream(stream, headers) {
          const took = lane(stream, headers);
          laneTook.push(took);
          return took;
        },
      });
      return state.port.server as never;
    },
  }) as unknown as FastifyInstance;
  registerConnect(app, rpcs, call, {
    routes(router) {
      health.routes(router);
      reflectionRoutes(router, SERVICES);
    },
    requestTimeoutMs,
    shutdownSignal: shutdown.signal,
    log,
  });
  await app.ready();
  const { server, drain } = state.port as Port;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => drain(0));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, url: `http://${address}`, health, laneTook, logged, shutdown };
}

/** A gRPC client as most people have one. */
export function grpcClient(t: TestContext, served: Served): grpc.Client {
  const client = new grpc.Client(served.address, grpc.credentials.createInsecure());
  t.after(() => client.close());
  return client;
}

/** What a caller gets to know of an error, whatever the protocol. */
export interface Told {
  readonly code: Code;
  readonly message: string;
  readonly reason: string | undefined;
  readonly domain: string | undefined;
  readonly violations: readonly { readonly field: string; readonly description: string }[];
}

export function told(error: unknown): Told {
  if (error instanceof ConnectError) {
    const details = error.details as { type: string; value: Uint8Array }[];
    return toldOf(
      error.code as number,
      error.rawMessage,
      new Map(details.map(({ type, value }) => [type, value])),
    );
  }
  const { code, details, metadata } = error as grpc.ServiceError;
  return toldOf(
    code as number,
    details,
    packed(metadata?.get("grpc-status-details-bin")[0] as Buffer | undefined),
  );
}

/** Details by type, from grpc-status-details-bin. */
export function packed(status: Uint8Array | undefined): Map<string, Uint8Array> {
  const { details } = fromBinary(StatusSchema, status ?? new Uint8Array());
  return new Map(details.map((any) => [any.typeUrl.replace(/^.*\//, ""), any.value]));
}

export function toldOf(code: Code, message: string, details: Map<string, Uint8Array>): Told {
  const info = details.get(ErrorInfoSchema.typeName);
  const bad = details.get(BadRequestSchema.typeName);
  const { reason, domain } = info
    ? fromBinary(ErrorInfoSchema, info)
    : { reason: undefined, domain: undefined };
  const violations = bad ? fromBinary(BadRequestSchema, bad).fieldViolations : [];
  return {
    code,
    message,
    reason,
    domain,
    violations: violations.map(({ field, description }) => ({ field, description })),
  };
}

/** What callers must be told of a fault. */
export function toldFault({ code, message, reason, details }: Fault): Told {
  return { code, message, reason, domain: "retinue", violations: [...(details.violations ?? [])] };
}

/** Rejects with what `work` should not have resolved with. */
export async function failure(work: Promise<unknown>): Promise<unknown> {
  const answer = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("error" in answer) return answer.error;
  throw new Error(`should have failed, but answered ${String(answer.value)}`);
}

/** One server for all tests of a suite; what it answers is for each of them to say. */
export function serveAll(): { readonly served: Served; answers: Answers } {
  const cleanups: (() => unknown)[] = [];
  const current: { served?: Served; answers: Answers } = { answers: {} };
  const answers: Answers = {
    unary: (...args) => current.answers.unary?.(...args) ?? Promise.reject(new Error("not expected")),
    stream: (...args) => current.answers.stream?.(...args) ?? fail(),
  };
  before(async () => {
    current.served = await serve({ after: (cleanup) => void cleanups.push(cleanup) }, answers);
  });
  after(() => Promise.all(cleanups.map((cleanup) => cleanup())));
  return current as { served: Served; answers: Answers };
}

function fail(): never {
  throw new Error("not expected");
}
