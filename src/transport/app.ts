import type http from "node:http";
import type { AddressInfo } from "node:net";
import { type FastifyInstance, fastify } from "fastify";
import type { Logger } from "pino";
import { createErrorHandler, GATEWAY_APP_OPTIONS, notFoundHandler } from "./gateway/index.js";
import { isGrpc, refuseUnknownService } from "./grpc/unknown-service.js";
import type { Handler } from "./port/http1-server.js";
import { createPort, type Port, type PortOptions } from "./port/port.js";

/** A router behind a port of its own, with our envelope for whatever goes wrong. */
export interface App {
  readonly router: FastifyInstance;
  /** Resolves with the port once it accepts connections. */
  listen(port: number, host: string): Promise<number>;
  /** Lets requests in flight finish for so long, then ends them. */
  stop(graceMs: number): Promise<void>;
}

export const HEADERS_TIMEOUT_MS = 10_000;
export const REQUEST_TIMEOUT_MS = 30_000;

export function createApp(
  options: Pick<PortOptions, "tls" | "maxConnections" | "onStream">,
  log: Logger,
): App {
  let port: Port | undefined;
  const router = fastify<http.Server>({
    ...GATEWAY_APP_OPTIONS,
    serverFactory: (handler) => {
      port = createPort(handler as Handler, {
        ...options,
        headersTimeoutMs: HEADERS_TIMEOUT_MS,
        requestTimeoutMs: REQUEST_TIMEOUT_MS,
      });
      return port.server as http.Server;
    },
  });
  router.setErrorHandler(createErrorHandler(log));
  router.setNotFoundHandler((request, reply) =>
    isGrpc(request) ? refuseUnknownService(request, reply) : notFoundHandler(request, reply),
  );

  return {
    router: router as unknown as FastifyInstance,
    async listen(wanted, host) {
      await router.listen({ port: wanted, host });
      return (router.server.address() as AddressInfo).port;
    },
    async stop(graceMs) {
      await port?.drain(graceMs);
      await router.close();
    },
  };
}
