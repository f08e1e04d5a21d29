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
import { type Fault, internal } from "../domain/fault.js";
import { connectFault } from "./connect-faults.js";
import { sendable } from "./limits.js";
import { toConnectError } from "./status.js";

/** A fault as the whole answer to a request of this content type. */
export function faultResponse(contentType: string, fault: Fault): UniversalServerResponse {
  const error = toConnectError(sendable(fault));
  const header = new Headers({ "content-type": contentType });
  if (contentType.startsWith("application/grpc-web")) {
    return { status: 200, header, body: createAsyncIterable([webTrailer(new Headers(), error)]) };
  }
  if (contentType.startsWith("application/grpc")) {
    return { status: 200, header, trailer: setTrailerStatus(new Headers(), error) };
  }
  if (contentType.startsWith("application/connect+")) {
    return { status: 200, header, body: createAsyncIterable([endStream(new Headers(), error)]) };
  }
  header.set("content-type", "application/json");
  return {
    status: codeToHttpStatus(error.code),
    header,
    body: createAsyncIterable([errorToJsonBytes(error, undefined)]),
  };
}

/**
 * The response with Connect's own errors put as faults of ours. Such errors come from where neither handlers nor
 * interceptors reach, so they are looked for in what is about to be sent, in the place each protocol has for them.
 */
export async function mended(response: UniversalServerResponse): Promise<UniversalServerResponse> {
  const { header, body, trailer } = response;
  const contentType = header?.get("content-type") ?? "";
  if (body === undefined || header === undefined) return response;
  if (contentType.startsWith("application/grpc-web")) {
    return {
      ...response,
      body: mendedStream(body, trailerFlag, mendWebTrailer, (fault) => webTrailer(new Headers(), fault)),
    };
  }
  if (contentType.startsWith("application/connect+")) {
    return {
      ...response,
      body: mendedStream(body, endStreamFlag, mendEndStream, (fault) => endStream(new Headers(), fault)),
    };
  }
  if (contentType.startsWith("application/grpc") && trailer)
    return { ...response, body: mendedGrpc(body, trailer) };
  if (response.status >= 400 && contentType === "application/json")
    return mendedUnary(response, header, body);
  return response;
}

/** The mended error, or undefined where there is none or it is one of ours, which has details. */
function mend(error: ConnectError | undefined): ConnectError | undefined {
  if (error === undefined || error.details.length > 0) return undefined;
  return toConnectError(sendable(connectFault(error)));
}

async function mendedUnary(
  response: UniversalServerResponse,
  header: Headers,
  body: AsyncIterable<Uint8Array>,
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

async function* mendedGrpc(body: AsyncIterable<Uint8Array>, trailer: Headers): AsyncIterable<Uint8Array> {
  try {
    yield* body;
    const error = mend(findTrailerError(trailer));
    if (error) setTrailerStatus(trailer, error);
  } catch {
    // Connect throws here when it cannot write its own error; left alone, the call would never be answered.
    setTrailerStatus(trailer, toConnectError(internal()));
  }
}

/** For the protocols that put the error into an envelope at the end; each chunk is one envelope. */
async function* mendedStream(
  body: AsyncIterable<Uint8Array>,
  endFlag: number,
  mendEnd: (data: Uint8Array) => Uint8Array | undefined,
  makeEnd: (error: ConnectError) => Uint8Array,
): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of body) {
      const flags = chunk[0] ?? 0;
      if ((flags & endFlag) === 0) {
        yield chunk;
        continue;
      }
      const data = chunk.subarray(5);
      yield mendEnd((flags & compressedFlag) === 0 ? data : gunzipSync(data)) ?? chunk;
    }
  } catch {
    yield makeEnd(toConnectError(internal()));
  }
}

function mendWebTrailer(data: Uint8Array): Uint8Array | undefined {
  const trailer = trailerParse(data);
  const error = mend(findTrailerError(trailer));
  return error && webTrailer(trailer, error);
}

function webTrailer(trailer: Headers, error: ConnectError): Uint8Array {
  return encodeEnvelope(trailerFlag, trailerSerialize(setTrailerStatus(trailer, error)));
}

function mendEndStream(data: Uint8Array): Uint8Array | undefined {
  const end = endStreamFromJson(data);
  const error = mend(end.error);
  return error && endStream(end.metadata, error);
}

function endStream(metadata: Headers, error: ConnectError): Uint8Array {
  return encodeEnvelope(
    endStreamFlag,
    Buffer.from(JSON.stringify(endStreamToJson(metadata, error, undefined))),
  );
}
