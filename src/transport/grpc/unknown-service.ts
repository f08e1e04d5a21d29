import type { Http2ServerRequest, ServerHttp2Stream } from "node:http2";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Fault } from "../../domain/fault.js";
import { quoted } from "../../domain/name.js";
import { dropBody } from "../gateway/drop-body.js";
import { sendable } from "../limits.js";
import { statusHeaders } from "./frame.js";

/** gRPC or gRPC-Web: its clients look for a status of theirs and make little of HTTP's. */
export function isGrpc(request: FastifyRequest): boolean {
  return request.headers["content-type"]?.startsWith("application/grpc") === true;
}

/**
 * UNIMPLEMENTED for a path that belongs to no service. Without a body, and the header frame must say so: clients of
 * gRPC look for the status there only if it ends the stream, and Fastify's answers have an empty frame behind it.
 */
export async function refuseUnknownService(
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const path = request.url.replace(/[?#].*/s, "");
  const fault = new Fault(Code.UNIMPLEMENTED, "UNIMPLEMENTED", `no service has a method ${quoted(path)}`);
  await dropBody(request.raw);
  const type = request.headers["content-type"] as string;
  const headers = { "content-type": type, ...statusHeaders(sendable(fault)) };
  const { stream } = request.raw as unknown as Partial<Http2ServerRequest>;
  if (stream === undefined) return reply.code(200).headers(headers).send();
  reply.hijack();
  if (!stream.destroyed)
    (stream as ServerHttp2Stream).respond({ ":status": 200, ...headers }, { endStream: true });
  return reply;
}
