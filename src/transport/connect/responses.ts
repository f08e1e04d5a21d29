import { gunzipSync } from "node:zlib";
import { ConnectError } from "@connectrpc/connect";
import {
  compressedFlag,
  createAsyncIterable,
  encodeEnvelope,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import {
  codeToHttpStatus,
  endStreamFlag,
  endStreamFromJson,
  endStreamToJson,
  errorFromJsonBytes,
  errorToJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import { findTrailerError, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerParse, trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { type Fault, internal } from "../../domain/fault.js";
import { PREFIX_BYTES, percentEncode } from "../grpc/frame.js";
import { sendable } from "../limits.js";
import { toConnectError } from "../status.js";
import { connectFault } from "./own-faults.js";

/** A fault as the whole answer to a request of this content type. */
export function faultResponse(contentType: string, fault: Fault): UniversalServerResponse {
  const error = toConnectError(sendable(fault));
  const header = new Headers({ "content-type": contentType });
  if (contentType.startsWith("application/grpc-web")) {
    return { status: 200, header, body: createAsyncIterable([WEB_TRAILER.write(new Headers(), error)]) };
  }
  if (contentType.startsWith("application/grpc")) {
    return { status: 200, header, trailer: respell(setTrailerStatus(new Headers(), error)) };
  }
  if (contentType.startsWith("application/connect+")) {
    return { status: 200, header, body: createAsyncIterable([END_STREAM.write(new Headers(), error)]) };
  }
  header.set("content-type", "application/json");
  return {
    status: codeToHttpStatus(error.code),
    header,
    body: createAsyncIterable([errorToJsonBytes(error, undefined)]),
  };
}

/**
 * The response with Connect's own errors put as faults of ours. Such errors come from where neither handlers
 * nor interceptors reach, so they are looked for in what is about to be sent, where each protocol has them.
 */
export async function mended(
  response: UniversalServerResponse,
  report: (bug: unknown) => void,
): Promise<UniversalServerResponse> {
  const { header, body, trailer } = response;
  if (body === undefined || header === undefined) return response;
  const contentType = header.get("content-type") ?? "";
  const mend = (error: ConnectError | undefined) => mendedError(error, report);
  if (contentType.startsWith("application/grpc-web")) {
    return { ...response, body: mendedStream(body, WEB_TRAILER, mend) };
  }
  if (contentType.startsWith("application/connect+")) {
    return { ...response, body: mendedStream(body, END_STREAM, mend) };
  }
  if (contentType.startsWith("application/grpc") && trailer) {
    return { ...response, body: mendedGrpc(body, trailer, mend) };
  }
  if (response.status >= 400 && contentType === "application/json") {
    return mendedUnary(response, header, body, mend);
  }
  return response;
}

type Mend = (error: ConnectError | undefined) => ConnectError | undefined;

/** The mended error, or undefined where there is none or it is one of ours, which has details. */
function mendedError(
  error: ConnectError | undefined,
  report: (bug: unknown) => void,
): ConnectError | undefined {
  if (error === undefined || error.details.length > 0) return undefined;
  const fault = connectFault(error);
  if (fault.code === Code.INTERNAL) report(error);
  return toConnectError(sendable(fault));
}

async function mendedUnary(
  response: UniversalServerResponse,
  header: Headers,
  body: AsyncIterable<Uint8Array>,
  mend: Mend,
): Promise<UniversalServerResponse> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const sent = Buffer.concat(chunks);
  const plain = header.get("content-encoding") === "gzip" ? gunzipSync(sent) : sent;
  const error = mend(errorFromJsonBytes(plain, undefined, new ConnectError("")));
  if (error === undefined) return { ...response, body: createAsyncIterable([sent]) };
  const bytes = errorToJsonBytes(error, undefined);
  header.delete("content-encoding");
  header.set("content-length", String(bytes.length));
  return { status: codeToHttpStatus(error.code), header, body: createAsyncIterable([bytes]) };
}

async function* mendedGrpc(
  body: AsyncIterable<Uint8Array>,
  trailer: Headers,
  mend: Mend,
): AsyncIterable<Uint8Array> {
  try {
    yield* body;
    const error = mend(findTrailerError(trailer));
    if (error) setTrailerStatus(trailer, error);
    respell(trailer);
  } catch {
    // Connect throws here when it cannot write its own error; left alone, the call would never be answered.
    setTrailerStatus(trailer, toConnectError(internal()));
  }
}

/** Connect encodes more of the text than gRPC wants encoded, and clients that keep to gRPC decode only that. */
function respell(trailer: Headers): Headers {
  const message = trailer.get("grpc-message");
  if (message !== null) trailer.set("grpc-message", percentEncode(decodeURIComponent(message)));
  return trailer;
}

/** The envelope at the end of a stream, in protocols that keep the error there. */
interface End {
  readonly flag: number;
  /** The error in one, and where it is written to. */
  read(data: Uint8Array): { readonly metadata: Headers; readonly error?: ConnectError | undefined };
  write(metadata: Headers, error: ConnectError): Uint8Array;
}

const WEB_TRAILER: End = {
  flag: trailerFlag,
  read(data) {
    const metadata = trailerParse(data);
    return { metadata, error: findTrailerError(metadata) };
  },
  write: (metadata, error) =>
    encodeEnvelope(trailerFlag, trailerSerialize(respell(setTrailerStatus(metadata, error)))),
};

const END_STREAM: End = {
  flag: endStreamFlag,
  read: endStreamFromJson,
  write: (metadata, error) =>
    encodeEnvelope(endStreamFlag, Buffer.from(JSON.stringify(endStreamToJson(metadata, error, undefined)))),
};

/** Each chunk is one envelope. */
async function* mendedStream(
  body: AsyncIterable<Uint8Array>,
  end: End,
  mend: Mend,
): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of body) yield (chunk[0] ?? 0) & end.flag ? mendedEnd(chunk, end, mend) : chunk;
  } catch {
    yield end.write(new Headers(), toConnectError(internal()));
  }
}

function mendedEnd(chunk: Uint8Array, end: End, mend: Mend): Uint8Array {
  const data = chunk.subarray(PREFIX_BYTES);
  const { metadata, error } = end.read((chunk[0] ?? 0) & compressedFlag ? gunzipSync(data) : data);
  const mended = mend(error);
  return mended ? end.write(metadata, mended) : chunk;
}
