import { promisify } from "node:util";
import zlib from "node:zlib";
import type { DescMethod } from "@bufbuild/protobuf";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { Fault } from "../../domain/fault.js";
import { messageFromJson } from "../../domain/message-json.js";
import { parseJson } from "../gateway/json-text.js";
import { clampTimeout } from "../grpc/deadline.js";
import { PREFIX_BYTES } from "../grpc/frame.js";
import { RequestBytes } from "../grpc/request-bytes.js";
import { requestTimedOut } from "../grpc/request-faults.js";
import { MAX_REQUEST_BYTES, requestTooLarge, sendable } from "../limits.js";
import { toConnectError } from "../status.js";

const gunzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip);

/**
 * The request as Connect gets to see it: with a deadline that a timer can hold, and its message in one piece.
 * Connect counts all chunks it holds at each one that comes, so that 60 kB sent byte by byte would block the
 * process for a minute. Requests of many messages stay as they are: services that take such set small limits.
 */
export function prepared(
  request: UniversalServerRequest,
  method: DescMethod,
  timeoutMs: number,
): UniversalServerRequest {
  clampTimeout(request.header);
  const { body } = request;
  if (typeof body !== "object" || body === null || !(Symbol.asyncIterator in body)) return request;
  if (method.methodKind === "bidi_streaming" || method.methodKind === "client_streaming") return request;
  return { ...request, body: inOnePiece(body, request.header, method, timeoutMs) };
}

/** Faults thrown from here Connect sends as it sends a handler's. */
async function* inOnePiece(
  body: AsyncIterable<Uint8Array>,
  header: Headers,
  method: DescMethod,
  timeoutMs: number,
): AsyncIterable<Uint8Array> {
  try {
    const bytes = await inTime(readAll(body), timeoutMs);
    await checkJson(bytes, header, method);
    if (bytes.length > 0) yield bytes;
  } catch (error) {
    throw error instanceof Fault ? toConnectError(sendable(error)) : error;
  }
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const received = new RequestBytes();
  const chunks = body[Symbol.asyncIterator]();
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    received.add(next.value);
    if (received.size <= MAX_REQUEST_BYTES + PREFIX_BYTES) continue;
    drop(chunks).catch(() => {});
    throw requestTooLarge();
  }
  return received.bytes;
}

/**
 * Reads what nobody wants. Leaving an HTTP/1 request unread closes its connection, and the client, still
 * sending, may never see the answer. The port's limit on the time of a request bounds it.
 */
async function drop(chunks: AsyncIterator<Uint8Array>): Promise<void> {
  while (!(await chunks.next()).done);
}

async function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(requestTimedOut()), timeoutMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/**
 * Reads a JSON message as `/v1` does and throws its fault. Connect reads it again: it would take in silence
 * some of what is refused here, and say less about the rest.
 */
async function checkJson(bytes: Buffer, header: Headers, method: DescMethod): Promise<void> {
  const type = /^application\/(?:(grpc|grpc-web|connect)\+)?json\b/i.exec(header.get("content-type") ?? "");
  if (type === null) return;
  const [, protocol] = type;
  const json =
    protocol === undefined
      ? await decompressed(bytes, header.get("content-encoding") ?? "identity")
      : await unwrapped(bytes, header.get("connect-content-encoding") ?? header.get("grpc-encoding"));
  if (json !== undefined) messageFromJson(method.input, parseJson(json));
}

/** The message in an envelope; undefined where Connect is to say what is wrong. */
async function unwrapped(bytes: Buffer, encoding: string | null): Promise<Buffer | undefined> {
  if (bytes.length < PREFIX_BYTES || bytes.readUInt32BE(1) !== bytes.length - PREFIX_BYTES) return undefined;
  return decompressed(bytes.subarray(PREFIX_BYTES), bytes[0] === 0 ? "identity" : (encoding ?? ""));
}

async function decompressed(bytes: Buffer, encoding: string): Promise<Buffer | undefined> {
  if (encoding === "identity") return bytes;
  if (encoding !== "gzip") return undefined;
  return gunzip(bytes, { maxOutputLength: MAX_REQUEST_BYTES }).catch(() => undefined);
}
