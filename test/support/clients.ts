import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import {
  create,
  createRegistry,
  type DescMessage,
  type DescMethod,
  type DescMethodStreaming,
  type DescMethodUnary,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { type Any, AnySchema, anyPack } from "@bufbuild/protobuf/wkt";
import { ConnectError, type Transport } from "@connectrpc/connect";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import grpc from "@grpc/grpc-js";
import { file_google_rpc_error_details } from "../../gen/google/rpc/error_details_pb.js";
import { StatusSchema } from "../../gen/google/rpc/status_pb.js";
import { cleanUp } from "./cleanup.js";

/** What a caller gets to know, whatever the protocol: the answer as ProtoJSON, or all there is to an error. */
export type Outcome = { readonly answer: JsonValue } | { readonly fault: Told };

export interface Told {
  readonly code: number;
  readonly message: string;
  /** Each as in the `/v1` envelope. */
  readonly details: JsonValue;
}

/** A protocol as its users see it, through a library. */
export interface Client {
  readonly name: string;
  unary(method: DescMethod, request: JsonValue, key?: string): Promise<Outcome>;
  /** The first message of a stream, or the fault that came in its place. */
  first(method: DescMethod, request: JsonValue, key?: string): Promise<Outcome>;
}

/** A protocol down to its bytes, for what no library would send. */
export interface Wire {
  readonly name: string;
  readonly format: "json" | "binary";
  /** The header in which the client states its deadline, and a value of more than 2^31 ms. */
  readonly longDeadline: readonly [name: string, value: string];
  send(url: string, method: DescMethod, message: Uint8Array, options?: SendOptions): Promise<Outcome>;
}

export interface SendOptions {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends the message as gzip, these bytes in place of compressing it. */
  readonly gzipped?: Uint8Array;
}

const WRITE = { alwaysEmitImplicit: true, registry: createRegistry(file_google_rpc_error_details) };

function answerJson(method: DescMethod, message: Message): Outcome {
  return { answer: toJson(method.output as DescMessage, message, WRITE) };
}

/* ---------------------------------------------------------------- libraries */

const gzip = { sendCompression: compressionGzip, acceptCompression: [compressionGzip], compressMinBytes: 0 };

type Open = (baseUrl: string, http1: { httpVersion: "1.1"; nodeOptions: { agent: http.Agent } }) => Transport;

const http2Version = { httpVersion: "2" } as const;
const binary = { useBinaryFormat: true };
const json = { useBinaryFormat: false };

const TRANSPORTS: readonly (readonly [name: string, open: Open])[] = [
  ["Connect JSON, HTTP/1.1", (baseUrl, http1) => createConnectTransport({ baseUrl, ...http1 })],
  ["Connect JSON, HTTP/2", (baseUrl) => createConnectTransport({ baseUrl, ...http2Version })],
  ["Connect JSON, gzip", (baseUrl) => createConnectTransport({ baseUrl, ...http2Version, ...gzip })],
  ["Connect binary, HTTP/1.1", (baseUrl, http1) => createConnectTransport({ baseUrl, ...http1, ...binary })],
  ["Connect binary, HTTP/2", (baseUrl) => createConnectTransport({ baseUrl, ...http2Version, ...binary })],
  ["gRPC-Web, HTTP/1.1", (baseUrl, http1) => createGrpcWebTransport({ baseUrl, ...http1 })],
  ["gRPC-Web, HTTP/2", (baseUrl) => createGrpcWebTransport({ baseUrl, ...http2Version })],
  ["gRPC-Web JSON, HTTP/1.1", (baseUrl, http1) => createGrpcWebTransport({ baseUrl, ...http1, ...json })],
  ["gRPC, the short lane", (baseUrl) => createGrpcTransport({ baseUrl })],
  ["gRPC, gzip", (baseUrl) => createGrpcTransport({ baseUrl, ...gzip })],
  ["gRPC JSON", (baseUrl) => createGrpcTransport({ baseUrl, ...json })],
];

/** Every protocol through the library that most people use for it; they share no connection with other clients. */
export function openClients(url: string): Client[] {
  const agent = new http.Agent({ keepAlive: true });
  cleanUp(() => agent.destroy());
  const http1 = { httpVersion: "1.1", nodeOptions: { agent } } as const;
  return [
    ...TRANSPORTS.map(([name, open]) => connectClient(name, open(url, http1))),
    grpcJsClient("gRPC, grpc-js", url, {}),
    grpcJsClient("gRPC, grpc-js, gzip", url, {
      "grpc.default_compression_algorithm": grpc.compressionAlgorithms.gzip,
    }),
  ];
}

export function connectClient(name: string, transport: Transport): Client {
  const headers = (key: string | undefined) => (key === undefined ? {} : { authorization: `Bearer ${key}` });
  return {
    name,
    async unary(method, request, key) {
      const input = fromJson(method.input as DescMessage, request);
      try {
        const unary = method as DescMethodUnary;
        const reply = await transport.unary(unary, undefined, undefined, headers(key), input);
        return answerJson(method, reply.message);
      } catch (error) {
        return { fault: toldByConnect(error) };
      }
    },
    async first(method, request, key) {
      const input = fromJson(method.input as DescMessage, request);
      try {
        const stream = method as DescMethodStreaming;
        const reply = await transport.stream(stream, undefined, undefined, headers(key), iterate(input));
        for await (const message of reply.message) return answerJson(method, message);
        throw new Error("the stream ended without a message");
      } catch (error) {
        return { fault: toldByConnect(error) };
      }
    },
  };
}

async function* iterate<T>(item: T): AsyncIterable<T> {
  yield item;
}

/** Fails on an error that did not come from a server: that is a client that could not make sense of it. */
export function toldByConnect(error: unknown): Told {
  if (!(error instanceof ConnectError)) throw error;
  const details = error.details.map((detail) =>
    "desc" in detail
      ? anyPack(detail.desc, create(detail.desc, detail.value))
      : create(AnySchema, { typeUrl: `type.googleapis.com/${detail.type}`, value: detail.value }),
  );
  return { code: error.code, message: error.rawMessage, details: detailsJson(details) };
}

function detailsJson(details: readonly Any[]): JsonValue {
  return details.map((any) => toJson(AnySchema, any, WRITE));
}

function grpcJsClient(name: string, url: string, options: grpc.ClientOptions): Client {
  const client = openGrpcJs(url, grpc.credentials.createInsecure(), options);
  return {
    name,
    unary: (method, request, key) => callGrpcJs(client, method, request, key),
    first: (method, request, key) => streamGrpcJs(client, method, request, key),
  };
}

export function openGrpcJs(
  url: string,
  credentials: grpc.ChannelCredentials,
  options: grpc.ClientOptions = {},
) {
  const client = new grpc.Client(new URL(url).host, credentials, options);
  cleanUp(() => client.close());
  return client;
}

export function callGrpcJs(
  client: grpc.Client,
  method: DescMethod,
  request: JsonValue,
  key?: string,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const { path, serialize, deserialize, input } = grpcJsCall(method, request);
    client.makeUnaryRequest(path, serialize, deserialize, input, metadataOf(key), (error, reply) => {
      if (error) settle(() => ({ fault: toldByGrpcJs(error) }), resolve, reject);
      else settle(() => answerJson(method, reply as Message), resolve, reject);
    });
  });
}

function streamGrpcJs(
  client: grpc.Client,
  method: DescMethod,
  request: JsonValue,
  key?: string,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const { path, serialize, deserialize, input } = grpcJsCall(method, request);
    const stream = client.makeServerStreamRequest(path, serialize, deserialize, input, metadataOf(key));
    stream.on("data", (reply: Message) => {
      settle(() => answerJson(method, reply), resolve, reject);
      stream.cancel();
    });
    stream.on("error", (error: grpc.ServiceError) => {
      settle(() => ({ fault: toldByGrpcJs(error) }), resolve, reject);
    });
  });
}

function grpcJsCall(method: DescMethod, request: JsonValue) {
  const output = method.output as DescMessage;
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    serialize: (message: Message) => Buffer.from(toBinary(method.input as DescMessage, message)),
    deserialize: (bytes: Buffer): Message => fromBinary(output, bytes),
    input: fromJson(method.input as DescMessage, request) as Message,
  };
}

function metadataOf(key: string | undefined): grpc.Metadata {
  const metadata = new grpc.Metadata();
  if (key !== undefined) metadata.set("authorization", `Bearer ${key}`);
  return metadata;
}

function settle<T>(make: () => T, resolve: (value: T) => void, reject: (error: unknown) => void): void {
  try {
    resolve(make());
  } catch (error) {
    reject(error);
  }
}

function toldByGrpcJs({ code, details, metadata }: grpc.ServiceError): Told {
  return toldByStatus(code, details, metadata?.get("grpc-status-details-bin")[0] as Buffer | undefined);
}

/** google.rpc.Status repeats code and message: clients in other languages read them there, so they must agree. */
function toldByStatus(code: number, message: string, packed: Uint8Array | undefined): Told {
  if (packed === undefined) return { code, message, details: [] };
  const status = fromBinary(StatusSchema, packed);
  const agree = status.code === code && status.message === message;
  const both = `header: ${code} ${message} | details: ${status.code} ${status.message}`;
  return { code, message: agree ? message : both, details: detailsJson(status.details) };
}

/* --------------------------------------------------------------------- HTTP */

export type HttpVersion = "1.1" | "2";

export interface HttpRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly trailers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** For https; with `cert` and `key` the client shows who it is. */
export interface TlsOptions {
  readonly ca: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** One request on a connection of its own. Says what came back, also if the server did not wait for the whole request. */
export function exchange(
  url: string,
  version: HttpVersion,
  request: HttpRequest,
  tls?: TlsOptions,
): Promise<HttpReply> {
  return version === "2" ? exchange2(url, request, tls) : exchange1(url, request, tls);
}

async function exchange1(url: string, request: HttpRequest, tls: TlsOptions | undefined): Promise<HttpReply> {
  const { hostname, port } = new URL(url);
  const { method = "GET", path, body } = request;
  // Node sends the body of a DELETE without saying that there is one.
  const length: Record<string, string> =
    body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const headers = { ...length, ...request.headers };
  // Not a URL: that would be normalised, and some tests are about what is not normal.
  const options = { host: hostname, port, method, path, headers, agent: false, ...tls };
  const sent = tls ? https.request(options) : http.request(options);
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
    sent.once("response", resolve);
    // After the answer has come, an error only says that the rest of the request was not wanted.
    sent.on("error", reject);
  });
  sent.end(body);
  const response = await answered;
  const received = await buffer(response);
  return {
    status: response.statusCode as number,
    headers: response.headers,
    trailers: response.trailers,
    body: received,
  };
}

async function exchange2(url: string, request: HttpRequest, tls: TlsOptions | undefined): Promise<HttpReply> {
  const session = http2.connect(url, { ...tls });
  session.on("error", () => {});
  try {
    return await requestOn(session, request);
  } finally {
    session.destroy();
  }
}

/** One request on an HTTP/2 connection. */
export async function requestOn(session: http2.ClientHttp2Session, request: HttpRequest): Promise<HttpReply> {
  const { method = "GET", path, headers = {}, body } = request;
  const pseudo = { ":method": method, ":path": path };
  const stream = session.request({ ...pseudo, ...headers }, { endStream: body === undefined });
  const answered = new Promise<http2.IncomingHttpHeaders>((resolve, reject) => {
    stream.once("response", resolve);
    stream.on("error", reject);
    stream.once("close", () => reject(new Error(`the stream was closed with code ${stream.rstCode}`)));
  });
  let trailers: http2.IncomingHttpHeaders = {};
  stream.once("trailers", (received) => {
    trailers = received;
  });
  if (body !== undefined) stream.end(body);
  const received = await answered;
  const bytes = await buffer(stream).catch(() => Buffer.alloc(0));
  return { status: Number(received[":status"]), headers: received, trailers, body: bytes };
}

/* --------------------------------------------------------------------- wires */

const PREFIX_BYTES = 5;

/** A message as gRPC and gRPC-Web frame it. */
export function framed(message: Uint8Array, flags = 0): Buffer {
  const frame = Buffer.alloc(PREFIX_BYTES + message.length);
  frame[0] = flags;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

function connectWire(format: Wire["format"], version: HttpVersion): Wire {
  return {
    name: `Connect ${format}, HTTP/${version}`,
    format,
    longDeadline: ["connect-timeout-ms", "9999999999"],
    async send(url, method, message, options = {}) {
      const encoding: Record<string, string> = options.gzipped ? { "content-encoding": "gzip" } : {};
      const type = { "content-type": `application/${format === "json" ? "json" : "proto"}` };
      const reply = await post(
        url,
        version,
        method,
        options.gzipped ?? message,
        { ...type, ...encoding },
        options,
      );
      if (reply.status === 200) return decoded(method, format, reply.body);
      return { fault: toldByConnectJson(reply) };
    },
  };
}

function grpcWebWire(format: Wire["format"], version: HttpVersion): Wire {
  return {
    name: `gRPC-Web ${format}, HTTP/${version}`,
    format,
    longDeadline: ["grpc-timeout", "99999999H"],
    async send(url, method, message, options = {}) {
      const reply = await postFramed(url, version, "grpc-web", format, method, message, options);
      const frames = framesOf(reply.body);
      const end = frames.find(({ flags }) => flags & 0x80);
      const trailers = end ? trailersOf(end.data) : reply.headers;
      return grpcOutcome(method, format, trailers, frames.find(({ flags }) => (flags & 0x80) === 0)?.data);
    },
  };
}

function grpcWire(name: string, format: Wire["format"], always: Readonly<Record<string, string>> = {}): Wire {
  return {
    name,
    format,
    longDeadline: ["grpc-timeout", "99999999H"],
    async send(url, method, message, options = {}) {
      const headers = { te: "trailers", ...always, ...options.headers };
      const reply = await postFramed(url, "2", "grpc", format, method, message, { ...options, headers });
      const trailers = "grpc-status" in reply.trailers ? reply.trailers : reply.headers;
      return grpcOutcome(method, format, trailers, framesOf(reply.body)[0]?.data);
    },
  };
}

/** Every protocol in every form that the server says it speaks. */
export const WIRES: readonly Wire[] = [
  connectWire("json", "1.1"),
  connectWire("json", "2"),
  connectWire("binary", "1.1"),
  connectWire("binary", "2"),
  grpcWebWire("json", "2"),
  grpcWebWire("binary", "1.1"),
  grpcWebWire("binary", "2"),
  grpcWire("gRPC, the short lane", "binary"),
  // A header that says nothing, but is not the short lane's business.
  grpcWire("gRPC through Connect", "binary", { "grpc-encoding": "gzip" }),
  grpcWire("gRPC JSON", "json"),
];

function post(
  url: string,
  version: HttpVersion,
  method: DescMethod,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
  options: SendOptions,
): Promise<HttpReply> {
  const path = `/${method.parent.typeName}/${method.name}`;
  const credentials: Record<string, string> =
    options.key === undefined ? {} : { authorization: `Bearer ${options.key}` };
  const all = { ...headers, ...credentials, ...options.headers };
  return exchange(url, version, { method: "POST", path, headers: all, body });
}

function postFramed(
  url: string,
  version: HttpVersion,
  protocol: "grpc" | "grpc-web",
  format: Wire["format"],
  method: DescMethod,
  message: Uint8Array,
  options: SendOptions,
): Promise<HttpReply> {
  const type = `application/${protocol}+${format === "json" ? "json" : "proto"}`;
  const encoding: Record<string, string> = options.gzipped ? { "grpc-encoding": "gzip" } : {};
  const body = options.gzipped ? framed(options.gzipped, 1) : framed(message);
  return post(url, version, method, body, { "content-type": type, ...encoding }, options);
}

function framesOf(body: Buffer): { flags: number; data: Buffer }[] {
  const frames: { flags: number; data: Buffer }[] = [];
  for (let at = 0; at < body.length; ) {
    const end = at + PREFIX_BYTES + body.readUInt32BE(at + 1);
    frames.push({ flags: body[at] as number, data: body.subarray(at + PREFIX_BYTES, end) });
    at = end;
  }
  return frames;
}

function trailersOf(data: Buffer): Record<string, string> {
  const lines = data.toString().split("\r\n").filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
}

function grpcOutcome(
  method: DescMethod,
  format: Wire["format"],
  trailers: HttpReply["trailers"],
  message: Buffer | undefined,
): Outcome {
  const code = Number(trailers["grpc-status"]);
  if (!Number.isInteger(code)) throw new Error(`there is no grpc-status in ${JSON.stringify(trailers)}`);
  if (code === 0) {
    if (message === undefined) throw new Error("grpc-status is 0 and there is no message");
    return decoded(method, format, message);
  }
  const packed = trailers["grpc-status-details-bin"] as string | undefined;
  const text = decodeURIComponent((trailers["grpc-message"] as string | undefined) ?? "");
  return {
    fault: toldByStatus(code, text, packed === undefined ? undefined : Buffer.from(packed, "base64")),
  };
}

function decoded(method: DescMethod, format: Wire["format"], bytes: Buffer): Outcome {
  const output = method.output as DescMessage;
  const message =
    format === "json"
      ? fromJson(output, JSON.parse(bytes.toString()) as JsonValue)
      : fromBinary(output, bytes);
  return answerJson(method, message);
}

function toldByConnectJson({ status, body }: HttpReply): Told {
  const error = JSON.parse(body.toString()) as { code: string; message?: string; details?: JsonObject[] };
  const code = codeFromString(error.code);
  if (code === undefined) throw new Error(`HTTP ${status}: no error of Connect: ${body.toString()}`);
  const details = (error.details ?? []).map(({ type, value }) =>
    create(AnySchema, {
      typeUrl: `type.googleapis.com/${String(type)}`,
      value: Buffer.from(String(value), "base64"),
    }),
  );
  return { code, message: error.message ?? "", details: detailsJson(details) };
}

/** One `/v1` request, put as the other protocols put theirs. */
export async function restOutcome(
  url: string,
  version: HttpVersion,
  key: string | undefined,
  [method, path, body]: readonly [method: string, path: string, body?: JsonValue | string],
): Promise<Outcome> {
  const headers: Record<string, string> = {};
  if (key !== undefined) headers.authorization = `Bearer ${key}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const reply = await exchange(url, version, { method, path, headers, body: text });
  const json = JSON.parse(reply.body.toString()) as JsonValue;
  return reply.status === 200 ? { answer: json } : { fault: json as unknown as Told };
}

/** A gzip member of so many zero bytes, a thousandth of the size. */
export function gzipBomb(bytes: number): Buffer {
  return gzipSync(Buffer.alloc(bytes));
}
