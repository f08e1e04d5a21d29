import { readFileSync } from "node:fs";
import { configureTextEncoding, getTextEncoding } from "@bufbuild/protobuf/wire";
import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { requireScope } from "../domain/caller.js";
import type { Codehost } from "../engine/automation/codehost.js";
import type { Service } from "../services/service.js";
import { type App, createApp, REQUEST_TIMEOUT_MS } from "./app.js";
import { type CallGuards, createCall, serverStopping } from "./call.js";
import { registerConnect } from "./connect/register-connect.js";
import { registerGateway } from "./gateway/index.js";
import { createGrpcLane } from "./grpc/lane.js";
import type { Metrics } from "./guards/metrics.js";
import type { OpenCalls } from "./guards/open-calls.js";
import { createHealth } from "./health.js";
import { registerHooks } from "./hooks/register-hooks.js";
import { registerMcp } from "./mcp/register-mcp.js";
import type { PortOptions } from "./port/port.js";
import { reflectionRoutes } from "./reflection/reflection.js";
import { rpcTable } from "./rpc.js";
import { registerUi } from "./ui/register-ui.js";

export interface ServerOptions {
  readonly services: readonly Service[];
  readonly guards: CallGuards;
  readonly codehost: Codehost;
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
  /**
   * Opens a second port for the agents' tools and nothing else, in cleartext and on this machine: agents may not
   * trust the certificate that others use, or have one to show. Resolves with the port.
   */
  listenForAgents(): Promise<number>;
  /** Takes no new calls, tells the open ones, lets calls in flight finish for so long, then ends them. */
  stop(graceMs: number): Promise<void>;
}

// Node's Buffer encodes short texts several times faster than TextEncoder, and messages are made of short texts.
configureTextEncoding({ ...getTextEncoding(), encodeUtf8: (text) => Buffer.from(text, "utf8") });

/** Every protocol on one port, each an adapter of the same `call`. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { guards, openCalls, metrics, log } = options;
  const rpcs = rpcTable(options.services);
  const call = createCall(guards);
  const health = createHealth(options.services.map((service) => service.desc.typeName));
  const { maxConnections } = options;
  const onStream = createGrpcLane(rpcs, call, { requestTimeoutMs: REQUEST_TIMEOUT_MS, log });
  const main = createApp({ ...(options.tls ? { tls: options.tls } : {}), maxConnections, onStream }, log);
  const app = main.router;
  registerGateway(app, rpcs.values(), call, log);
  registerMcp(app, rpcs.values(), call, guards, options.version);
  registerHooks(app, options.codehost, log);
  let agents: App | undefined;
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

  registerUi(app);
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
    listen: main.listen,
    async listenForAgents() {
      agents = createApp({ maxConnections, onStream: () => false }, log);
      registerMcp(agents.router, rpcs.values(), call, guards, options.version);
      return agents.listen(0, "127.0.0.1");
    },
    async stop(graceMs) {
      health.setServing(false);
      openCalls.stop();
      shutdown.abort(serverStopping());
      await Promise.all([main.stop(graceMs), agents?.stop(graceMs)]);
    },
  };
}

function isLoopback(request: FastifyRequest): boolean {
  const address = request.socket.remoteAddress ?? "";
  return address === "::1" || address.startsWith("127.") || address.startsWith("::ffff:127.");
}
