import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Call } from "../call.js";
import type { Rpc } from "../rpc.js";
import { SLOW_READER_MS } from "../slow-reader.js";
import { compileBind } from "./bind.js";
import { addBodyParsers, awaitUntypedBody, readBody } from "./decode.js";
import { compileEncode } from "./encode.js";
import { createErrorHandler, type ErrorLog, sendJson } from "./envelope.js";
import { HttpIncoming } from "./incoming.js";
import { createNotFound } from "./not-found.js";
import { routerPath } from "./path-template.js";
import { type Route, resolveRoutes } from "./rule.js";
import { compileEvent, compileResume, sendEvents } from "./sse.js";

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/**
 * Serves every RPC that has a google.api.http rule as HTTP with JSON, and the error envelope for whatever else is
 * asked below `/v1`. Throws, at boot, if a rule cannot be served. The app must be made with GATEWAY_APP_OPTIONS;
 * `log` gets what goes wrong in the gateway itself, in place of the app's own logger.
 */
export function registerGateway(
  app: FastifyInstance,
  rpcs: Iterable<Rpc>,
  call: Call,
  log: ErrorLog = app.log,
  slowReaderMs = SLOW_READER_MS,
): void {
  const routes = resolveRoutes(rpcs);

  app.register(async (scope) => {
    addBodyParsers(scope);
    scope.setErrorHandler(createErrorHandler(log));
    for (const route of routes) {
      const streams = route.rpc.method.methodKind === "server_streaming";
      scope.route({
        method: route.httpMethod,
        url: routerPath(route.template),
        exposeHeadRoute: !streams,
        handler: streams ? streamHandler(route, call, log, slowReaderMs) : unaryHandler(route, call),
      });
    }
  });

  // A scope of its own, so that its hook, which answers before any body is read, costs the routes nothing.
  app.register(
    async (scope) => {
      const notFound = createNotFound(routes);
      scope.addHook("onRequest", notFound);
      scope.setNotFoundHandler(notFound);
    },
    { prefix: "/v1" },
  );
}

function unaryHandler(route: Route, call: Call): Handler {
  const messageOf = compileRequest(route);
  const encode = compileEncode(route);
  return async (request, reply) => {
    const untyped = awaitUntypedBody(request);
    if (untyped) await untyped;
    const response = await call.unary(route.rpc, () => messageOf(request), new HttpIncoming(request, reply));
    return sendJson(reply, 200, encode(response));
  };
}

function streamHandler(route: Route, call: Call, log: ErrorLog, slowReaderMs: number): Handler {
  const messageOf = compileRequest(route);
  const resume = compileResume(route.rpc.method.input);
  const encode = compileEvent(route);
  return async (request, reply) => {
    const untyped = awaitUntypedBody(request);
    if (untyped) await untyped;
    const decode = () => {
      const message = messageOf(request);
      resume(request, message);
      return message;
    };
    const messages = call.stream(route.rpc, decode, new HttpIncoming(request, reply));
    await sendEvents(reply, messages, encode, log, slowReaderMs);
  };
}

function compileRequest(route: Route) {
  const bind = compileBind(route);
  return (request: FastifyRequest) =>
    bind(request.url, request.params as Record<string, string>, readBody(route, request));
}
