import { readFileSync } from "node:fs";
import type http from "node:http";
import type { AddressInfo } from "node:net";
import { configureTextEncoding, getTextEncoding } from "@bufbuild/protobuf/wire";
import { type FastifyRequest, fastify } from "fastify";
import type { Logger } from "pino";
import { requireScope } from "../domain/caller.js";
import type { Service } from "../services/service.js";
import { type CallGuards, createCall, serverStopping } from "./call.js";
import { registerConnect } from "./connect/register-connect.js";
import {
  createErrorHandler,
  GATEWAY_APP_OPTIONS,
  notFoundHandler,
  registerGateway,
} from "./gateway/index.js";
import { createGrpcLane } from "./grpc/unary-lane.js";
import type { Metrics } from "./guards/metrics.js";
import type { OpenCalls } from "./guards/open-calls.js";
import { createHealth } from "./health.js";
import { registerMcp } from "./mcp/register-mcp.js";
import type { Handler } from "./port/http1-server.js";
import { createPort, type Port, type PortOptions } from "./port/port.js";
import { reflectionRoutes } from "./reflection/reflection.js";
import { rpcTable } from "./rpc.js";

export interface ServerOptions {
  readonly services: readonly Service[];
  readonly guards: CallGuards;
  readonly openCalls: OpenCalls;
  readonly metrics: Metrics;
  /** Serves /metrics without a key to clients on this machine. */
  readonly metricsToLoopback: boolean;
  readonly tls: PortOptions["tls"] | undefined;
  readonly maxConnections: number;
  readonly version: string;
  readonly log: Logger;
}

export interface Server {
  /** Resolves with the port once it accepts connections. */
  listen(port: number, host: string): Promise<number>;
  /** Takes no new calls, tells the open ones, lets calls in flight finish for so long, then ends them. */
  stop(graceMs: number): Promise<void>;
}

// Node's Buffer encodes short texts several times faster than TextEncoder, and messages are made of short texts.
configureTextEncoding({ ...getTextEncoding(), encodeUtf8: (text) => Buffer.from(text, "utf8") });

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** Every protocol on one port, each an adapter of the same `call`. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { guards, openCalls, metrics, log } = options;
  const rpcs = rpcTable(options.services);
  const call = createCall(guards);
  const health = createHealth(options.services.map((service) => service.desc.typeName));
  let port: Port | undefined;
  const app = fastify<http.Server>({
    ...GATEWAY_APP_OPTIONS,
    serverFactory: (handler) => {
      port = createPort(handler as Handler, {
        ...(options.tls ? { tls: options.tls } : {}),
        maxConnections: options.maxConnections,
        headersTimeoutMs: HEADERS_TIMEOUT_MS,
        requestTimeoutMs: REQUEST_TIMEOUT_MS,
        onStream: createGrpcLane(rpcs, call, { requestTimeoutMs: REQUEST_TIMEOUT_MS, log }),
      });
      return port.server as http.Server;
    },
  });
  app.setErrorHandler(createErrorHandler(log));
  app.setNotFoundHandler(notFoundHandler);
  registerGateway(app, rpcs.values(), call, log);
  registerMcp(app, rpcs.values(), call, guards, options.version);
  const shutdown = new AbortController();
  registerConnect(app, rpcs, call, {
    shutdownSignal: shutdown.signal,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    log,
    authenticate: guards.authenticate,
    routes(router) {
      health.routes(router);
      reflectionRoutes(router, options.services);
    },
  });

  const descriptor = readFileSync(new URL("../../gen/descriptor.binpb", import.meta.url));
  app.get("/descriptor.binpb", (_request, reply) => reply.type("application/octet-stream").send(descriptor));
  app.get("/metrics", async (request, reply) => {
    if (!(options.metricsToLoopback && isLoopback(request))) {
      requireScope(await guards.authenticate(request.headers.authorization), "audit:read");
    }
    return reply.type(metrics.contentType).send(await metrics.text());
  });
  await app.ready();

  return {
    async listen(wanted, host) {
      await app.listen({ port: wanted, host });
      return (app.server.address() as AddressInfo).port;
    },
    async stop(graceMs) {
      health.setServing(false);
      openCalls.stop();
      shutdown.abort(serverStopping());
      await port?.drain(graceMs);
      await app.close();
    },
  };
}

function isLoopback(request: FastifyRequest): boolean {
  const address = request.socket.remoteAddress ?? "";
  return address === "::1" || address.startsWith("127.") || address.startsWith("::ffff:127.");
}
