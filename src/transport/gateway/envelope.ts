import type { FastifyError, FastifyReply, FastifyRequest, FastifyServerOptions } from "fastify";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Fault, internal, malformed, notFound } from "../../domain/fault.js";
import { quoted } from "../../domain/name.js";
import { MAX_REQUEST_BYTES, requestTooLarge, sendable } from "../limits.js";
import { httpStatus, toEnvelope } from "../status.js";
import { unsupported } from "./decode.js";
import { dropBody } from "./drop-body.js";

/** Longest value of a variable in a path. Names are shorter; this one only bounds what is worth an answer of its own. */
const PARAM_MAX_LENGTH = 1024;

/** Answers with a text that is JSON already; Fastify would add a charset, which JSON does not have. */
export function sendJson(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).header("content-type", "application/json").serializer(asIs).send(text);
}

function asIs(text: string): string {
  return text;
}

/** Answers with the documented envelope, once the request has been read to its end. */
export async function sendFault(reply: FastifyReply, fault: Fault): Promise<FastifyReply> {
  const { retryAfterMs } = fault.details;
  if (retryAfterMs !== undefined) reply.header("retry-after", String(Math.ceil(retryAfterMs / 1000)));
  if (fault.code === Code.UNAUTHENTICATED) reply.header("www-authenticate", "Bearer");
  if (await dropBody(reply.request.raw)) reply.removeHeader("connection");
  return sendJson(reply, httpStatus(fault.code), JSON.stringify(toEnvelope(sendable(fault))));
}

/** Where errors go that no caller is meant to see. */
export interface ErrorLog {
  error(fields: { err: unknown }, message: string): void;
}

type ErrorHandler = (
  error: FastifyError | Fault,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>;

/** For Fastify's `setErrorHandler`. What a handler throws has been logged by `call`; what is logged here is ours. */
export function createErrorHandler(log?: ErrorLog): ErrorHandler {
  return async (error, request, reply) => {
    const fault = error instanceof Fault ? error : faultOfFramework(error, request);
    if (fault !== error && fault.code === Code.INTERNAL) {
      (log ?? request.log).error({ err: error }, "unexpected error in the gateway");
    }
    return sendFault(reply, fault);
  };
}

/** The same, for an app that has a logger of its own. */
export const errorHandler: ErrorHandler = createErrorHandler();

/** For Fastify's `setNotFoundHandler`, outside of the paths that the gateway serves. */
export function notFoundHandler(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return sendFault(reply, pathNotFound(request.url));
}

export function pathNotFound(url: string): Fault {
  return notFound("PATH_NOT_FOUND", `nothing is served at ${quoted(url.replace(/[?#].*/s, ""))}`);
}

function faultOfFramework(error: FastifyError, request: FastifyRequest): Fault {
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return requestTooLarge();
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return unsupported(request.headers);
    case "FST_ERR_BAD_URL":
      return malformed(`the path has malformed percent-encoding: ${quoted(request.url)}`);
    case "FST_ERR_MAX_PARAM_LENGTH":
      return malformed(`a part of the path is longer than ${PARAM_MAX_LENGTH} characters`);
    case "FST_ERR_NOT_FOUND":
      return pathNotFound(request.url);
    default:
      return error.statusCode !== undefined && error.statusCode < 500
        ? malformed(`the request could not be read: ${error.message}`)
        : internal();
  }
}

/** What the Fastify app must be made with for every answer below `/v1` to be the envelope. */
export const GATEWAY_APP_OPTIONS = {
  bodyLimit: MAX_REQUEST_BYTES,
  routerOptions: { maxParamLength: PARAM_MAX_LENGTH },
  frameworkErrors: errorHandler as NonNullable<FastifyServerOptions["frameworkErrors"]>,
  // Fastify's own 503 is not an envelope; whoever stops the server says so through `call`.
  return503OnClosing: false,
} as const satisfies FastifyServerOptions;
