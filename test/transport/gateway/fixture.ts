import assert from "node:assert/strict";
import { once } from "node:events";
import http, { type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, type TestContext } from "node:test";
import { create, type JsonObject, type Message } from "@bufbuild/protobuf";
import { type FastifyInstance, type FastifyServerOptions, fastify } from "fastify";
import { AgentService } from "../../../gen/retinue/v1/agent_service_pb.js";
import { AuditService } from "../../../gen/retinue/v1/audit_service_pb.js";
import { CatalogService } from "../../../gen/retinue/v1/catalog_service_pb.js";
import { IdentityService } from "../../../gen/retinue/v1/identity_service_pb.js";
import { TaskService } from "../../../gen/retinue/v1/task_service_pb.js";
import { TimelineService } from "../../../gen/retinue/v1/timeline_service_pb.js";
import { type Call, decoded, type Incoming } from "../../../src/transport/call.js";
import {
  errorHandler,
  GATEWAY_APP_OPTIONS,
  notFoundHandler,
  registerGateway,
} from "../../../src/transport/gateway/index.js";
import { type Rpc, rpcTable } from "../../../src/transport/rpc.js";

const SERVICES = [AgentService, AuditService, CatalogService, IdentityService, TaskService, TimelineService];

type Answer = Record<string, unknown>;

/** A call as the gateway handed it over. */
export interface Seen {
  readonly rpc: Rpc;
  readonly request: Message & Record<string, unknown>;
  readonly incoming: Incoming;
}

export interface Answers {
  /** The response of any unary RPC; default: an empty one. */
  readonly unary?: (seen: Seen) => Answer | Promise<Answer>;
  readonly stream?: (seen: Seen) => AsyncIterable<Answer>;
  /** Served beside those of the real services. */
  readonly rpcs?: readonly Rpc[];
  readonly app?: FastifyServerOptions;
  readonly slowReaderMs?: number;
}

export interface Gateway {
  readonly app: FastifyInstance;
  readonly url: string;
  readonly port: number;
  /** Calls that came through, oldest first. */
  readonly seen: Seen[];
  /** What the gateway logged as unexpected. */
  readonly logged: unknown[];
}

/** One gateway for all tests of a suite. */
export function shareGateway(answers: Answers = {}): () => Gateway {
  let gateway: Gateway | undefined;
  before(async () => {
    gateway = await openGateway(undefined, answers);
  });
  after(() => gateway?.app.close());
  return () => gateway ?? assert.fail("the gateway is not open yet");
}

/** The gateway over all real services, on a loopback port; closed with the test. */
export async function openGateway(t: TestContext | undefined, answers: Answers = {}): Promise<Gateway> {
  const seen: Seen[] = [];
  const logged: unknown[] = [];
  const note = (rpc: Rpc, request: Message, incoming: Incoming): Seen => {
    const call = { rpc, request: request as Seen["request"], incoming };
    seen.push(call);
    return call;
  };
  const call: Call = {
    async unary(rpc, request, incoming) {
      const seen = note(rpc, decoded(request), incoming);
      return create(rpc.method.output, await answers.unary?.(seen));
    },
    async *stream(rpc, request, incoming) {
      const seen = note(rpc, decoded(request), incoming);
      for await (const item of answers.stream?.(seen) ?? []) yield create(rpc.method.output, item);
    },
  };
  const app = fastify({ ...GATEWAY_APP_OPTIONS, forceCloseConnections: true, ...(answers.app as object) });
  app.setErrorHandler(errorHandler);
  app.setNotFoundHandler(notFoundHandler);
  const log = { error: ({ err }: { err: unknown }) => void logged.push(err) };
  registerGateway(app, [...realRpcs(), ...(answers.rpcs ?? [])], call, log, answers.slowReaderMs);
  await app.listen({ port: 0, host: "127.0.0.1" });
  t?.after(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  return { app, url: `http://127.0.0.1:${port}`, port, seen, logged };
}

export function realRpcs(): Rpc[] {
  const services = SERVICES.map((desc) => {
    const handlers = desc.methods.map((method) => [method.localName, async () => ({})]);
    return { desc, handlers: Object.fromEntries(handlers) };
  });
  return [...rpcTable(services).values()];
}

/** The error envelope as tests look at it. */
export interface Envelope {
  readonly code: number;
  readonly message: string;
  readonly details: readonly JsonObject[];
}

export function reasonOf({ details }: Envelope): unknown {
  return details.find((detail) => String(detail["@type"]).endsWith("ErrorInfo"))?.reason;
}

export function fieldsOf({ details }: Envelope): string[] {
  const detail = details.find((candidate) => String(candidate["@type"]).endsWith("BadRequest"));
  return ((detail?.fieldViolations ?? []) as { field: string }[]).map(({ field }) => field);
}

export const JSON_TYPE = { "content-type": "application/json" };

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A plain HTTP/1.1 request; unlike fetch it sends any method and path, and adds no header. */
export async function send(
  port: number,
  target: string,
  body: string | Buffer = "",
  headers: OutgoingHttpHeaders = body.length > 0 ? JSON_TYPE : {},
): Promise<Received> {
  const [method = "", path = ""] = target.split(" ");
  const counted = body.length > 0 && !("transfer-encoding" in headers);
  const length = counted ? { "content-length": Buffer.byteLength(body) } : {};
  const request = http.request({ port, method, path, agent: false, headers: { ...length, ...headers } });
  request.end(body);
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}

/** A promise and how to resolve it; Promise.withResolvers comes with Node 22. */
export function deferred<T = void>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
