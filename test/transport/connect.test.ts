import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { buffer } from "node:stream/consumers";
import { after, before, describe, it, type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import type { DescMessage, DescService, Message } from "@bufbuild/protobuf";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { endStreamFromJson, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { Code } from "../../gen/google/rpc/code_pb.js";
import {
  CatalogService,
  type GetResourceRequest,
  GetResourceRequestSchema,
} from "../../gen/retinue/v1/catalog_service_pb.js";
import { TimelineService, WatchRequestSchema } from "../../gen/retinue/v1/timeline_service_pb.js";
import { Fault, invalidFields, malformed, notFound } from "../../src/domain/fault.js";
import { messageFromJson } from "../../src/domain/message-json.js";
import { deadlineExceeded, type Incoming } from "../../src/transport/call.js";
import { parseJson } from "../../src/transport/gateway/json-text.js";
import { requestTooLarge } from "../../src/transport/limits.js";
import { failure, type Served, serve, serveAll, type Told, told, toldFault } from "./rpc-server.js";

type Open = (baseUrl: string) => Transport;
const gzip = { sendCompression: compressionGzip, acceptCompression: [compressionGzip], compressMinBytes: 1 };

/** Every way into Connect. */
const TRANSPORTS: readonly (readonly [name: string, open: Open])[] = [
  ["Connect JSON, HTTP/1.1", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
  ["Connect JSON, HTTP/2, gzip", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", ...gzip })],
  [
    "Connect binary, HTTP/2",
    (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: true }),
  ],
  ["gRPC-Web, HTTP/1.1", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })],
  [
    "gRPC-Web JSON, HTTP/2",
    (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2", useBinaryFormat: false }),
  ],
  ["gRPC, gzip", (baseUrl) => createGrpcTransport({ baseUrl, ...gzip })],
  ["gRPC JSON", (baseUrl) => createGrpcTransport({ baseUrl, useBinaryFormat: false })],
];

const echo = async (_rpc: unknown, request: Message) => ({ name: (request as GetResourceRequest).ref?.name });

const FAULT = invalidFields([
  { field: "ref.kind", description: "unknown kind 'ü', 100 % 🙂" },
  { field: "ref.name", description: "required" },
]);

/** Resolves with what the handler was given; the handler never returns. */
function stuck() {
  const state: { found?: (incoming: Incoming) => void } = {};
  const called = new Promise<Incoming>((resolve) => (state.found = resolve));
  const never = (_rpc: unknown, _request: unknown, incoming: Incoming) => {
    state.found?.(incoming);
    return new Promise<never>(() => {});
  };
  return {
    called,
    unary: never,
    async *stream(rpc: unknown, request: unknown, incoming: Incoming) {
      yield { cursor: "first" };
      await never(rpc, request, incoming);
    },
  };
}

for (const [name, open] of TRANSPORTS) {
  describe(name, () => {
    const server = serveAll();
    const client = <S extends DescService>(service: S) => createClient(service, open(server.served.url));

    it("passes message and key on and brings the answer back", async () => {
      const keys: unknown[] = [];
      server.answers = {
        unary: (rpc, request, incoming) => {
          keys.push(incoming.authorization);
          return echo(rpc, request);
        },
      };
      const ref = { kind: "workspace", name: "größe".repeat(300) };
      const reply = await client(CatalogService).getResource(
        { ref },
        { headers: { authorization: "Bearer rtn_x.y" } },
      );
      assert.equal(reply.name, ref.name);
      assert.deepEqual(keys, ["Bearer rtn_x.y"]);
      assert.equal(server.served.laneTook.includes(true), false);
    });

    it("tells code, text, reason and violations of a fault", async () => {
      server.answers = { unary: () => Promise.reject(FAULT) };
      assert.deepEqual(told(await failure(client(CatalogService).getResource({}))), toldFault(FAULT));
    });

    it("replaces half a surrogate pair in an error text", async () => {
      server.answers = { unary: () => Promise.reject(malformed("odd \ud800 text")) };
      assert.deepEqual(
        told(await failure(client(CatalogService).getResource({}))),
        toldFault(malformed("odd \ufffd text")),
      );
    });

    it("cuts an error text that is too long for gRPC's headers, whatever the protocol", async () => {
      const fault = invalidFields([{ field: "ref.name", description: "ö".repeat(100_000) }]);
      server.answers = { unary: () => Promise.reject(fault) };
      const answer = told(await failure(client(CatalogService).getResource({})));
      assert.match(answer.message, /^ref.name: ö{400,}…$/);
      assert.match(answer.violations[0]?.description ?? "", /^ö{400,}…$/);
    });

    it("shows a bug as INTERNAL", async () => {
      server.answers = { unary: () => Promise.reject(new Error("secret")) };
      const { code, message, reason } = told(await failure(client(CatalogService).getResource({})));
      assert.deepEqual([code, message, reason], [Code.INTERNAL, "internal error", "INTERNAL"]);
    });

    it("shows a reply that cannot be encoded as INTERNAL", async () => {
      server.answers = { unary: async () => ({ generation: {} }) };
      const logged = server.served.logged.length;
      const { code, message, reason } = told(await failure(client(CatalogService).getResource({})));
      assert.deepEqual([code, message, reason], [Code.INTERNAL, "internal error", "INTERNAL"]);
      assert.equal(server.served.logged.length, logged + 1);
    });

    it("carries a stream, and the fault that ends it", async () => {
      const fault = notFound("AGENT_NOT_FOUND", "no such agent: größe");
      server.answers = {
        async *stream() {
          yield { cursor: "u:1" };
          yield { cursor: "u:2" };
          throw fault;
        },
      };
      const cursors: string[] = [];
      const watch = async () => {
        for await (const { cursor } of client(TimelineService).watch({})) cursors.push(cursor);
      };
      assert.deepEqual(told(await failure(watch())), toldFault(fault));
      assert.deepEqual(cursors, ["u:1", "u:2"]);
    });

    it("a request over 4 MiB is RESOURCE_EXHAUSTED", async () => {
      server.answers = { unary: () => assert.fail("called") };
      // Random enough that compression does not make it small.
      const name = Buffer.from(Float64Array.from({ length: 500_000 }, () => Math.random()).buffer).toString(
        "base64",
      );
      assert.deepEqual(
        told(await failure(client(CatalogService).getResource({ ref: { name } }))),
        toldFault(requestTooLarge()),
      );
    });

    it("a deadline that passes is DEADLINE_EXCEEDED even if the handler never returns", async () => {
      const { unary, called } = stuck();
      server.answers = { unary };
      // The client would give up by itself, so its own timer is not used.
      const header = name.startsWith("Connect") ? "connect-timeout-ms" : "grpc-timeout";
      const headers = { [header]: header === "grpc-timeout" ? "50m" : "50" };
      assert.deepEqual(
        told(await failure(client(CatalogService).getResource({}, { headers }))),
        toldFault(deadlineExceeded()),
      );
      assert.equal(((await called).signal.reason as Error).name, "TimeoutError");
    });

    it("a deadline beyond what a timer holds is no reason to fail at once", async () => {
      const unary = async (rpc: unknown, request: Message) => {
        await setTimeout(10); // gives a timer that is set wrongly the time to fire
        return echo(rpc, request);
      };
      server.answers = { unary };
      const headers = name.startsWith("Connect")
        ? { "connect-timeout-ms": "9999999999" }
        : { "grpc-timeout": "99999999H" };
      assert.equal((await client(CatalogService).getResource({ ref: { name: "x" } }, { headers })).name, "x");
    });

    it("a deadline that makes no sense is INVALID_ARGUMENT", async () => {
      server.answers = { unary: () => assert.fail("called") };
      const header = name.startsWith("Connect") ? "connect-timeout-ms" : "grpc-timeout";
      const { code, reason, message } = told(
        await failure(client(CatalogService).getResource({}, { headers: { [header]: "soon" } })),
      );
      assert.deepEqual([code, reason], [Code.INVALID_ARGUMENT, "MALFORMED_REQUEST"]);
      assert.match(message, new RegExp(`^${header}: 'soon' is not a timeout`));
    });

    for (const kind of ["call", "stream"] as const) {
      it(`a client that cancels a ${kind} aborts the handler's signal`, async () => {
        const { unary, stream, called } = stuck();
        server.answers = { unary, stream };
        const leave = new AbortController();
        const { signal: clientSignal } = leave;
        const watch = async () => {
          const updates = client(TimelineService).watch({}, { signal: clientSignal });
          for await (const { cursor } of updates) assert.equal(cursor, "first");
        };
        const answer = failure(
          kind === "stream" ? watch() : client(CatalogService).getResource({}, { signal: clientSignal }),
        );
        const { signal } = await called;
        assert.equal(signal.aborted, false);
        const aborted = once(signal, "abort");
        leave.abort();
        await aborted;
        assert.equal((signal.reason as Error).name, "AbortError");
        assert.equal(told(await answer).code, Code.CANCELLED);
      });
    }
  });
}

/** A protocol as bytes see it. */
interface Wire {
  readonly name: string;
  readonly path: string;
  readonly input: DescMessage;
  readonly json: string;
  readonly binary: string;
  readonly encodingHeader: string;
  readonly enveloped: boolean;
}

const GET = { path: "/retinue.v1.CatalogService/GetResource", input: GetResourceRequestSchema };
const WATCH = { path: "/retinue.v1.TimelineService/Watch", input: WatchRequestSchema };

function wire(
  name: string,
  method: typeof GET | typeof WATCH,
  json: string,
  binary: string,
  encodingHeader: string,
): Wire {
  return { name, ...method, json, binary, encodingHeader, enveloped: encodingHeader !== "content-encoding" };
}

const WIRES: readonly Wire[] = [
  wire("Connect unary", GET, "application/json", "application/proto", "content-encoding"),
  wire(
    "Connect stream",
    WATCH,
    "application/connect+json",
    "application/connect+proto",
    "connect-content-encoding",
  ),
  wire("gRPC-Web unary", GET, "application/grpc-web+json", "application/grpc-web+proto", "grpc-encoding"),
  wire("gRPC-Web stream", WATCH, "application/grpc-web+json", "application/grpc-web", "grpc-encoding"),
  // Its binary form takes the short lane, its JSON form does not: the words must be the same. Unary has its own tests.
  wire("gRPC stream", WATCH, "application/grpc+json", "application/grpc", "grpc-encoding"),
];

function enveloped(message: Uint8Array, flags = 0): Buffer {
  const prefix = Buffer.from([flags, 0, 0, 0, 0]);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

function open(t: TestContext, served: Served, headers: http2.OutgoingHttpHeaders): http2.ClientHttp2Stream {
  const session = http2.connect(served.url);
  t.after(() => session.destroy());
  return session.request({ ":method": "POST", ...headers });
}

/** The error in a response, from where its protocol keeps it. */
async function toldTo(stream: http2.ClientHttp2Stream): Promise<Told & { readonly status: number }> {
  const trailer = new Headers();
  const keep = (fields: http2.IncomingHttpHeaders) => {
    for (const [key, value] of Object.entries(fields))
      if (!key.startsWith(":")) trailer.set(key, String(value));
  };
  stream.on("trailers", keep);
  const [headers] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
  // An answer of trailers only has them in its head.
  if (headers["grpc-status"] !== undefined) keep(headers);
  const body = await buffer(stream);
  const status = Number(headers[":status"]);
  return { ...told(errorIn(headers["content-type"] ?? "", body, trailer)), status };
}

function errorIn(type: string, body: Buffer, trailer: Headers): ConnectError | undefined {
  const compressed = ((body[0] ?? 0) & 1) === 1;
  const end = () => (compressed ? gunzipSync(body.subarray(5)) : body.subarray(5));
  if (type.startsWith("application/grpc-web")) return findTrailerError(trailerParse(end()));
  if (type.startsWith("application/grpc")) return findTrailerError(trailer);
  if (type.startsWith("application/connect+")) return endStreamFromJson(end()).error;
  return errorFromJsonBytes(body, undefined, new ConnectError(`no error: ${body.toString()}`));
}

function faultOf(work: () => unknown): Fault {
  try {
    work();
  } catch (error) {
    if (error instanceof Fault) return error;
  }
  throw new Error("no fault");
}

const NEVER_CALLED = {
  unary: () => assert.fail("called"),
  stream: () => assert.fail("called"),
};

for (const wire of WIRES) {
  const { name, path, encodingHeader } = wire;

  describe(`${name}: what Connect itself finds wrong`, () => {
    const server = serveAll();
    let session: http2.ClientHttp2Session;
    before(() => {
      session = http2.connect(server.served.url);
    });
    after(() => session.destroy());

    /** Sends a message, right or wrong, and returns the error that comes back. */
    async function send(
      type: "json" | "binary",
      message: Uint8Array | string,
      { compressed = false, headers = {} as http2.OutgoingHttpHeaders } = {},
    ): Promise<Told> {
      const encoding = compressed ? { [encodingHeader]: "gzip" } : {};
      const head = { ":method": "POST", ":path": path, "content-type": wire[type], ...encoding, ...headers };
      const bytes = Buffer.from(message);
      const stream = session.request(head).end(wire.enveloped ? enveloped(bytes, compressed ? 1 : 0) : bytes);
      const { status, ...answer } = await toldTo(stream);
      assert.equal(status, wire.enveloped ? 200 : { 3: 400, 8: 429, 12: 501 }[answer.code as number]);
      assert.deepEqual(server.served.logged, []);
      return answer;
    }

    const BAD_JSON = [
      '{"reff": {}, "\\ud800": 1}',
      '{"ref": {"kind": 5}, "agentId": {"tenant": {"provider": "PROVIDER_NOPE"}, "tenantt": 1}}',
      '{"ref": {}, "ref": {}, "agentId": {}, "agentId": {}}',
      "[]",
      "{",
      "",
      "[".repeat(200),
      `{"${"ö".repeat(3000)}": 1}`,
    ];
    for (const json of BAD_JSON) {
      it(`JSON is refused in the words of the gateway: ${json.slice(0, 60)}`, async () => {
        const expected = toldFault(faultOf(() => messageFromJson(wire.input, parseJson(Buffer.from(json)))));
        assert.deepEqual(await send("json", json), expected);
        assert.deepEqual(await send("json", gzipSync(json), { compressed: true }), expected);
      });
    }

    it("a number that has lost digits is refused, though Connect would take it", async () => {
      if (wire.input !== WatchRequestSchema) return;
      const answer = await send("json", '{"afterSeq": 9007199254740993}');
      assert.deepEqual([answer.code, answer.violations[0]?.field], [Code.INVALID_ARGUMENT, "afterSeq"]);
    });

    it("bytes that are no protobuf are INVALID_ARGUMENT, in the words of the short lane", async () => {
      const { message, ...rest } = await send("binary", Buffer.from([0xff]));
      assert.deepEqual(rest, { code: 3, reason: "MALFORMED_REQUEST", domain: "retinue", violations: [] });
      assert.equal(message, "cannot decode the message: premature EOF");
    });

    it("an unknown compression is UNIMPLEMENTED and says what is known", async () => {
      const answer = await send("binary", "x", { headers: { [encodingHeader]: "zstd" } });
      assert.deepEqual([answer.code, answer.reason], [Code.UNIMPLEMENTED, "UNIMPLEMENTED"]);
      assert.match(answer.message, /"zstd".*gzip/);
    });

    it("bytes that are not gzip are INVALID_ARGUMENT", async () => {
      const expected = toldFault(malformed("the message cannot be decompressed"));
      assert.deepEqual(await send("binary", "this is not gzip", { compressed: true }), expected);
    });

    it("gzip that is cut short is INVALID_ARGUMENT", async () => {
      const expected = toldFault(malformed("the message cannot be decompressed"));
      assert.deepEqual(
        await send("binary", gzipSync("x".repeat(1000)).subarray(0, 20), { compressed: true }),
        expected,
      );
    });

    for (const type of ["json", "binary"] as const) {
      it(`200 MB in 200 KB of gzip are refused as too large without blocking (${type})`, async () => {
        const delay = monitorEventLoopDelay({ resolution: 5 });
        const answer = send(type, BOMB, { compressed: true });
        delay.enable();
        assert.deepEqual(await answer, toldFault(requestTooLarge()));
        delay.disable();
        assert.ok(delay.max < 2000e6, `blocked for ${delay.max / 1e6} ms`);
      });
    }

    if (!wire.enveloped) return;
    const HEAD = { ":method": "POST", ":path": path, "content-type": wire.binary };

    it("two messages are one too many, none is one too few", async () => {
      const two = await toldTo(
        session.request(HEAD).end(Buffer.concat([enveloped(Buffer.of()), enveloped(Buffer.of())])),
      );
      assert.deepEqual(
        [two.code, two.message],
        [Code.UNIMPLEMENTED, "the method takes one message, and more were sent"],
      );
      const none = await toldTo(session.request(HEAD).end());
      assert.deepEqual(
        [none.code, none.message],
        [Code.UNIMPLEMENTED, "the method takes one message, and none was sent"],
      );
    });

    it("a message that is cut short is INVALID_ARGUMENT", async () => {
      const stream = session.request(HEAD).end(Buffer.from([0, 0, 0, 0, 9, 1]));
      const { status: _, ...answer } = await toldTo(stream);
      assert.deepEqual(answer, toldFault(malformed("the message is cut short")));
    });

    it("a compressed message without the name of its compression is INVALID_ARGUMENT", async () => {
      const stream = session.request(HEAD).end(enveloped(gzipSync("x"), 1));
      const answer = await toldTo(stream);
      assert.deepEqual([answer.code, answer.reason], [Code.INVALID_ARGUMENT, "MALFORMED_REQUEST"]);
      assert.match(answer.message, /marked as compressed/);
    });
  });

  describe(`${name}: what is not its protocol`, () => {
    const server = serveAll();

    it("an unknown method of a known service is UNIMPLEMENTED", async (t) => {
      const headers = { ":path": "/retinue.v1.CatalogService/Frobnicate", "content-type": wire.binary };
      const answer = await toldTo(open(t, server.served, headers).end(enveloped(Buffer.of())));
      assert.deepEqual([answer.code, answer.reason], [Code.UNIMPLEMENTED, "UNIMPLEMENTED"]);
      assert.equal(answer.message, 'retinue.v1.CatalogService has no method "Frobnicate"');
    });

    const OTHER: readonly (readonly [what: string, headers: http2.OutgoingHttpHeaders, status: number])[] = [
      ["the method GET", { ":method": "GET" }, 405],
      ["the method PUT", { ":method": "PUT", "content-type": wire.json }, 405],
      ["the content type application/xml", { "content-type": "application/xml" }, 415],
      ["the content type text/plain", { "content-type": "text/plain" }, 415],
    ];
    for (const [what, headers, status] of OTHER) {
      it(`${what} has Connect's answer, ${status} without a body`, async (t) => {
        const stream = open(t, server.served, { ":path": path, ...headers }).end(
          headers[":method"] === "GET" ? undefined : "x",
        );
        const [answer] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
        assert.equal(answer[":status"], status);
        assert.equal((await buffer(stream)).length, 0);
      });
    }

    it("a host that is none is a malformed request", async (t) => {
      const stream = open(t, server.served, {
        ":path": path,
        ":authority": "[",
        "content-type": wire.json,
      }).end("{}");
      const [answer] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
      assert.equal(answer[":status"], 400);
      assert.equal((JSON.parse((await buffer(stream)).toString()) as { code: number }).code, 3);
    });
  });
}

it("a request that does not arrive in time is answered and its stream closed", async (t) => {
  const served = await serve(t, NEVER_CALLED, { requestTimeoutMs: 50 });
  const checks = WIRES.filter((wire) => wire.enveloped).map(async ({ path, binary }) => {
    const stream = open(t, served, { ":path": path, "content-type": binary });
    stream.write(Buffer.from([0, 0, 0]));
    const answer = await toldTo(stream);
    assert.deepEqual([answer.code, answer.reason], [Code.DEADLINE_EXCEEDED, "REQUEST_TIMEOUT"]);
    if (!stream.closed) await once(stream, "close");
    assert.equal(stream.rstCode, http2.constants.NGHTTP2_NO_ERROR);
  });
  await Promise.all(checks);
});

it("a connection of HTTP/1.1 goes on after a request that was too large", async (t) => {
  const served = await serve(t, { unary: echo });
  const socket = net.connect(Number(new URL(served.url).port), "127.0.0.1");
  t.after(() => socket.destroy());
  const head = `POST ${GET.path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
  const chunk = `100000\r\n${" ".repeat(0x100000)}\r\n`;
  socket.write(`${head}transfer-encoding: chunked\r\n\r\n${chunk.repeat(6)}0\r\n\r\n`);
  socket.write(`${head}content-length: 2\r\nconnection: close\r\n\r\n{}`);
  const answers = (await buffer(socket)).toString();
  assert.deepEqual(answers.match(/HTTP\/1.1 \d+/g), ["HTTP/1.1 429", "HTTP/1.1 200"]);
});

describe("a message in frames of one byte", () => {
  /** A frame of HTTP/2; Node's client would put many writes into one. */
  function frameOf(type: number, flags: number, stream: number, payload: Buffer): Buffer {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head.set([type, flags], 3);
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  }

  const literal = (text: string) => Buffer.concat([Buffer.of(text.length), Buffer.from(text)]);
  const field = (name: string, value: string) => Buffer.concat([Buffer.of(0), literal(name), literal(value)]);

  it("does not block the server, though Connect alone would count all it has at each", async (t) => {
    const served = await serve(t, {});
    const head = [
      ":method",
      "POST",
      ":scheme",
      "http",
      ":authority",
      "x",
      ":path",
      WATCH.path,
      "content-type",
      "application/grpc",
    ];
    const fields = head.flatMap((name, i) => (i % 2 === 0 ? [field(name, head[i + 1] as string)] : []));
    const bytes = [...enveloped(Buffer.alloc(30_000, 0xff))];
    const socket = net.connect(Number(new URL(served.url).port), "127.0.0.1");
    t.after(() => socket.destroy());
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    socket.write(
      Buffer.concat([
        Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        frameOf(4, 0, 0, Buffer.of()),
        frameOf(1, 4, 1, Buffer.concat(fields)),
        ...bytes.map((byte, i) => frameOf(0, i === bytes.length - 1 ? 1 : 0, 1, Buffer.of(byte))),
      ]),
    );
    // Our SETTINGS and windows come at once; the answer is the first of HEADERS.
    let received = Buffer.alloc(0);
    const answered = () => {
      for (let at = 0; at + 9 <= received.length; at += 9 + received.readUIntBE(at, 3))
        if (received[at + 3] === 1) return true;
      return false;
    };
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer]);
      if (answered()) break;
    }
    delay.disable();
    assert.ok(delay.max < 5000e6, `blocked for ${delay.max / 1e6} ms`);
  });
});

const BOMB = gzipSync(Buffer.alloc(200_000_000));
