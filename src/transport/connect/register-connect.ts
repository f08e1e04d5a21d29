import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { ConnectRouter } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { compressionGzip } from "@connectrpc/connect-node";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Fault, internal, malformed } from "../../domain/fault.js";
import { quoted } from "../../domain/name.js";
import type { Call, CallGuards } from "../call.js";
import { resetUnread } from "../grpc/unread.js";
import { MAX_REQUEST_BYTES } from "../limits.js";
import type { Rpc } from "../rpc.js";
import { toEnvelope } from "../status.js";
import { implementation } from "./handlers.js";
import { prepared } from "./requests.js";
import { faultResponse, mended } from "./responses.js";

export interface ConnectOptions {
  /** Services that are not reached through `call`: health, reflection. */
  routes(router: ConnectRouter): void;
  /** For a whole request to arrive; default 30 s. */
  readonly requestTimeoutMs?: number;
  /**
   * Ends what `routes` keeps open when it is aborted. Calls are not touched by it: `call` tells those that
   * listen, and lets the others finish.
   */
  readonly shutdownSignal?: AbortSignal;
  readonly log?: Pick<Logger, "error">;
  /** Asked before a request is decoded: who has no key learns nothing about their request. */
  readonly authenticate?: CallGuards["authenticate"];
}

/** Connect, gRPC-Web and gRPC for every RPC, streams and compression included: whatever the lanes leave. */
export function registerConnect(
  app: FastifyInstance,
  rpcs: ReadonlyMap<string, Rpc>,
  call: Call,
  options: ConnectOptions,
): void {
  function routes(router: ConnectRouter): void {
    options.routes(router);
    for (const rpc of rpcs.values()) router.rpc(rpc.method, implementation(rpc, call), NOT_AT_SHUTDOWN);
    const services = new Map(router.handlers.map((handler) => [handler.service, handler]));
    // The plugin reads the list after this function has returned.
    const known = router.handlers.map((handler) => guarded(handler, rpcs.has(handler.requestPath), options));
    router.handlers.splice(0, Infinity, ...known, ...[...services.values()].map(unknownMethod));
  }

  app.register(async (scope) => {
    // Connect reads bodies itself and has its own answer to media types it does not know.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    scope.addHook("onRequest", async (request, reply) => {
      const { stream } = request.raw as unknown as Partial<Http2ServerRequest>;
      // Not the response's 'finish', nor Fastify's onResponse: those come when the stream is closed.
      stream?.once("finish", () => resetUnread(stream));
      if (hasUrl(request.raw)) return;
      // Connect's plugin would throw, and never answer.
      return reply.code(400).send(toEnvelope(malformed("malformed HTTP request: no valid host")));
    });
    await scope.register(fastifyConnectPlugin, {
      routes,
      readMaxBytes: MAX_REQUEST_BYTES,
      acceptCompression: [compressionGzip],
      jsonOptions: { ignoreUnknownFields: false },
      ...(options.shutdownSignal && { shutdownSignal: options.shutdownSignal }),
    });
  });
}

/** Aborting a call at shutdown would cut off a commit in progress: `call` knows who can be told. */
const NOT_AT_SHUTDOWN = { shutdownSignal: undefined } as object;

function guarded(handler: UniversalHandler, keyed: boolean, options: ConnectOptions): UniversalHandler {
  const { requestTimeoutMs = 30_000, log } = options;
  const report = (error: unknown) => log?.error({ err: error, rpc: handler.requestPath }, "unexpected error");
  return Object.assign(async (request: UniversalServerRequest) => {
    try {
      if (keyed) await options.authenticate?.(request.header.get("authorization") ?? undefined);
      return await mended(await handler(prepared(request, handler.method, requestTimeoutMs)), report);
    } catch (error) {
      if (!(error instanceof Fault)) report(error);
      const fault = error instanceof Fault ? error : internal();
      return faultResponse(request.header.get("content-type") ?? "", fault);
    }
  }, handler);
}

/** Takes the paths below a service that are no method of it: clients expect the form of their protocol. */
function unknownMethod(handler: UniversalHandler): UniversalHandler {
  const { typeName } = handler.service;
  const answer = async (request: UniversalServerRequest) => {
    const name = new URL(request.url).pathname.slice(typeName.length + 2);
    const fault = new Fault(Code.UNIMPLEMENTED, "UNIMPLEMENTED", `${typeName} has no method ${quoted(name)}`);
    return faultResponse(request.header.get("content-type") ?? "", fault);
  };
  return Object.assign(answer, handler, { requestPath: `/${typeName}/*` });
}

function hasUrl(request: IncomingMessage): boolean {
  const authority = (request as unknown as Http2ServerRequest).authority ?? request.headers.host;
  return URL.canParse(request.url ?? "", `http://${authority ?? ""}`);
}
