import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { buffer } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { create, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import grpc from "@grpc/grpc-js";
import { Code } from "../../gen/google/rpc/code_pb.js";
import {
  type GetResourceRequest,
  GetResourceRequestSchema,
  type GetResourceResponse,
  GetResourceResponseSchema,
} from "../../gen/retinue/v1/catalog_service_pb.js";
import { Fault, invalidField, invalidFields, malformed, notFound } from "../../src/domain/fault.js";
import { deadlineExceeded, type Incoming } from "../../src/transport/call.js";
import { requestTooLarge } from "../../src/transport/limits.js";
import { failure, grpcClient, packed, type Served, serve, told, toldFault, toldOf } from "./rpc-server.js";

const PATH = "/retinue.v1.CatalogService/GetResource";
const REQUEST = create(GetResourceRequestSchema, { ref: { kind: "workspace", name: "größe" } });

/** GetResource through grpc-js. */
function get(
  client: grpc.Client,
  {
    request = REQUEST,
    metadata = new grpc.Metadata(),
    options = {} as grpc.CallOptions,
    onCall = (_call: grpc.ClientUnaryCall) => {},
  } = {},
): Promise<GetResourceResponse> {
  return new Promise((resolve, reject) => {
    const call = client.makeUnaryRequest<GetResourceRequest, GetResourceResponse>(
      PATH,
      (message) => Buffer.from(toBinary(GetResourceRequestSchema, message)),
      (bytes) => fromBinary(GetResourceResponseSchema, bytes),
      request,
      metadata,
      options,
      (error, reply) => (error ? reject(error) : resolve(reply as GetResourceResponse)),
    );
    onCall(call);
  });
}

function frame(message: Uint8Array, flags = 0): Buffer {
  const prefix = Buffer.from([flags, 0, 0, 0, 0]);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** A stream of a bare HTTP/2 client, for what no gRPC client would send. */
function open(
  t: TestContext,
  served: Served,
  headers: http2.OutgoingHttpHeaders = {},
): http2.ClientHttp2Stream {
  const session = http2.connect(served.url);
  t.after(() => session.destroy());
  return session.request({
    ":method": "POST",
    ":path": PATH,
    "content-type": "application/grpc",
    ...headers,
  });
}

/** The error in a response that consists of trailers only. */
async function toldTo(stream: http2.ClientHttp2Stream) {
  const [headers] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
  assert.equal(headers[":status"], 200);
  assert.equal(headers["content-type"], "application/grpc+proto");
  assert.equal((await buffer(stream)).length, 0);
  const status = Buffer.from(headers["grpc-status-details-bin"] as string, "base64");
  return toldOf(
    Number(headers["grpc-status"]),
    decodeURIComponent(headers["grpc-message"] as string),
    packed(status),
  );
}

const echo = async (_rpc: unknown, request: Message) => ({
  ...create(GetResourceResponseSchema, { name: (request as GetResourceRequest).ref?.name ?? "" }),
});

describe("plain unary gRPC", () => {
  it("answers a grpc-js client on the short lane and passes its key on", async (t) => {
    const keys: (string | undefined)[] = [];
    const served = await serve(t, {
      unary: (rpc, request, incoming) => {
        keys.push(incoming.authorization);
        return echo(rpc, request);
      },
    });
    const metadata = new grpc.Metadata();
    metadata.set("authorization", "Bearer rtn_x.y");
    const reply = await get(grpcClient(t, served), { metadata });
    assert.equal(reply.name, "größe");
    assert.deepEqual(keys, ["Bearer rtn_x.y"]);
    assert.deepEqual(served.laneTook, [true]);
  });

  it("ends a successful answer with grpc-status 0", async (t) => {
    const served = await serve(t, { unary: echo });
    const stream = open(t, served).end(frame(toBinary(GetResourceRequestSchema, REQUEST)));
    const [[headers], [trailers], body] = await Promise.all([
      once(stream, "response") as Promise<[http2.IncomingHttpHeaders]>,
      once(stream, "trailers") as Promise<[http2.IncomingHttpHeaders]>,
      buffer(stream),
    ]);
    assert.equal(headers["grpc-status"], undefined);
    assert.equal(trailers["grpc-status"], "0");
    assert.deepEqual(
      body,
      frame(toBinary(GetResourceResponseSchema, create(GetResourceResponseSchema, { name: "größe" }))),
    );
  });

  const FAULTS: readonly Fault[] = [
    notFound("RESOURCE_NOT_FOUND", "no workspace 'größe' — 100 % sure 🙂\n\ttry another"),
    invalidFields([
      { field: "ref.kind", description: "unknown kind 'ü'" },
      { field: "ref.name", description: "required" },
    ]),
    new Fault(Code.UNAVAILABLE, "SERVER_STOPPING", "", { retryAfterMs: 1500 }),
  ];
  for (const fault of FAULTS) {
    it(`tells code, text, reason and violations of a fault: ${JSON.stringify(fault.message)}`, async (t) => {
      const served = await serve(t, { unary: () => Promise.reject(fault) });
      assert.deepEqual(told(await failure(get(grpcClient(t, served)))), toldFault(fault));
      assert.deepEqual(served.laneTook, [true]);
    });
  }

  it("percent-encodes what gRPC says must be, and only that", async (t) => {
    const served = await serve(t, { unary: () => Promise.reject(malformed(" a ~%é\nz ")) });
    const stream = open(t, served).end(frame(new Uint8Array()));
    const [headers] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
    assert.equal(headers["grpc-message"], "%20a ~%25%C3%A9%0Az%20");
    assert.doesNotMatch(headers["grpc-status-details-bin"] as string, /=/);
  });

  it("cuts an error text that no client's header limit would let through", async (t) => {
    const served = await serve(t, {
      unary: () => Promise.reject(invalidField("ö".repeat(100_000), "unknown field")),
    });
    const { code, message, reason, violations } = told(await failure(get(grpcClient(t, served))));
    assert.deepEqual([code, reason], [Code.INVALID_ARGUMENT, "INVALID_FIELD"]);
    assert.match(message, /^ö{400,}…$/);
    assert.match(violations[0]?.field ?? "", /^ö{400,}…$/);
    assert.equal(violations[0]?.description, "unknown field");
  });

  it("replaces half a surrogate pair in an error text", async (t) => {
    const served = await serve(t, { unary: () => Promise.reject(malformed("odd \ud800 text")) });
    assert.equal(told(await failure(get(grpcClient(t, served)))).message, "odd \ufffd text");
  });

  it("shows a bug as INTERNAL and logs it whole", async (t) => {
    const bug = new Error("secret");
    const served = await serve(t, { unary: () => Promise.reject(bug) });
    const { code, message, reason } = told(await failure(get(grpcClient(t, served))));
    assert.deepEqual([code, message, reason], [Code.INTERNAL, "internal error", "INTERNAL"]);
    assert.deepEqual(served.logged, [{ err: bug, rpc: "CatalogService/GetResource" }]);
  });

  it("shows a reply that cannot be encoded as INTERNAL", async (t) => {
    const reply = { ...create(GetResourceResponseSchema), generation: "many" };
    const served = await serve(t, { unary: async () => reply });
    assert.equal(told(await failure(get(grpcClient(t, served)))).reason, "INTERNAL");
    assert.equal(served.logged.length, 1);
  });

  it("leaves compression and streams to Connect", async (t) => {
    const served = await serve(t, { unary: echo });
    const client = new grpc.Client(served.address, grpc.credentials.createInsecure(), {
      "grpc.default_compression_algorithm": grpc.compressionAlgorithms.gzip,
    });
    t.after(() => client.close());
    const request = create(GetResourceRequestSchema, { ref: { kind: "workspace", name: "n".repeat(5000) } });
    assert.equal((await get(client, { request })).name, "n".repeat(5000));
    assert.deepEqual(served.laneTook, [false]);
  });
});

describe("bytes that are no request", () => {
  const good = toBinary(GetResourceRequestSchema, REQUEST);
  const ROWS: readonly (readonly [
    name: string,
    bytes: Uint8Array,
    code: Code,
    reason: string,
    message: RegExp,
  ])[] = [
    ["nothing", Buffer.alloc(0), Code.UNIMPLEMENTED, "UNIMPLEMENTED", /one message, and none was sent/],
    ["half a prefix", Buffer.from([0, 0]), Code.INVALID_ARGUMENT, "MALFORMED_REQUEST", /cut short/],
    ["half a message", frame(good).subarray(0, 9), Code.INVALID_ARGUMENT, "MALFORMED_REQUEST", /cut short/],
    [
      "two messages",
      Buffer.concat([frame(good), frame(good)]),
      Code.UNIMPLEMENTED,
      "UNIMPLEMENTED",
      /more were sent/,
    ],
    ["a compressed flag", frame(good, 1), Code.INVALID_ARGUMENT, "MALFORMED_REQUEST", /marked as compressed/],
    [
      "no protobuf",
      frame(Buffer.from([0xff])),
      Code.INVALID_ARGUMENT,
      "MALFORMED_REQUEST",
      /^cannot decode the message: /,
    ],
    [
      "a cut field",
      frame(Buffer.from([0x0a, 0x20, 1])),
      Code.INVALID_ARGUMENT,
      "MALFORMED_REQUEST",
      /^cannot decode/,
    ],
  ];
  for (const [name, bytes, code, reason, message] of ROWS) {
    it(`${name}: ${Code[code]} ${reason}`, async (t) => {
      const served = await serve(t, { unary: () => assert.fail("called") });
      const answer = await toldTo(open(t, served).end(bytes));
      assert.deepEqual([answer.code, answer.reason, answer.domain], [code, reason, "retinue"]);
      assert.match(answer.message, message);
      assert.deepEqual(served.laneTook, [true]);
    });
  }

  it("a request that comes byte by byte is read like any other", async (t) => {
    const served = await serve(t, { unary: echo });
    const stream = open(t, served);
    for (const byte of frame(good)) stream.write(Buffer.of(byte));
    stream.end();
    assert.deepEqual((await buffer(stream)).subarray(5).toString().slice(2), "größe");
  });
});

describe("requests over 4 MiB", () => {
  const MIB = 1024 * 1024;
  const sized = (bytes: number) => {
    const request = create(GetResourceRequestSchema, { ref: { name: "x".repeat(bytes - 10) } });
    assert.equal(toBinary(GetResourceRequestSchema, request).length, bytes);
    return request;
  };

  it("a message of exactly 4 MiB is taken", async (t) => {
    const served = await serve(t, {
      unary: async (_rpc, request) =>
        create(GetResourceResponseSchema, {
          generation: BigInt((request as GetResourceRequest).ref?.name.length ?? 0),
        }),
    });
    const reply = await get(grpcClient(t, served), { request: sized(4 * MIB) });
    assert.equal(reply.generation, BigInt(4 * MIB - 10));
  });

  it("one byte more is RESOURCE_EXHAUSTED to a grpc-js client", async (t) => {
    const served = await serve(t, { unary: () => assert.fail("called") });
    const error = await failure(get(grpcClient(t, served), { request: sized(4 * MIB + 1) }));
    assert.deepEqual(told(error), toldFault(requestTooLarge()));
  });

  it("is refused by the length it announces, before the message is sent", async (t) => {
    const served = await serve(t, { unary: () => assert.fail("called") });
    const stream = open(t, served);
    stream.write(Buffer.from([0, 0x7f, 0xff, 0xff, 0xff]));
    assert.deepEqual(await toldTo(stream), toldFault(requestTooLarge()));
    if (!stream.closed) await once(stream, "close");
    assert.equal(stream.rstCode, http2.constants.NGHTTP2_NO_ERROR);
  });

  it("is refused when more comes than was announced", async (t) => {
    const served = await serve(t, { unary: () => assert.fail("called") });
    const stream = open(t, served);
    stream.write(Buffer.concat([frame(new Uint8Array(10)), Buffer.alloc(5 * MIB)]));
    assert.deepEqual(await toldTo(stream), toldFault(requestTooLarge()));
  });
});

describe("deadlines", () => {
  /** Gives a timer that is set wrongly the time to fire. */
  const slowEcho = async (rpc: unknown, request: Message) => {
    await setTimeout(10);
    return echo(rpc, request);
  };

  /** A handler that never returns, and the signal it was given. */
  function stuck() {
    let unary = (_rpc: unknown, _request: unknown, _incoming: Incoming) => new Promise<never>(() => {});
    const called = new Promise<Incoming>((resolve) => {
      unary = (_rpc, _request, incoming) => {
        resolve(incoming);
        return new Promise<never>(() => {});
      };
    });
    return { unary, called };
  }

  it("a deadline that passes is DEADLINE_EXCEEDED even if the handler never returns", async (t) => {
    const { unary, called } = stuck();
    const served = await serve(t, { unary });
    const stream = open(t, served, { "grpc-timeout": "100m" }).end(frame(new Uint8Array()));
    const { signal } = await called;
    assert.equal(signal.aborted, false);
    assert.deepEqual(await toldTo(stream), toldFault(deadlineExceeded()));
    assert.equal((signal.reason as Error).name, "TimeoutError");
  });

  it("a signal that is first looked at after the deadline is aborted already", async (t) => {
    const { unary, called } = stuck();
    const served = await serve(t, { unary });
    const stream = open(t, served, { "grpc-timeout": "50m" }).end(frame(new Uint8Array()));
    const incoming = await called;
    await toldTo(stream);
    assert.equal((incoming.signal.reason as Error).name, "TimeoutError");
  });

  it("a deadline of zero has passed", async (t) => {
    const served = await serve(t, { unary: () => assert.fail("called") });
    const stream = open(t, served, { "grpc-timeout": "0m" }).end(frame(new Uint8Array()));
    assert.deepEqual(await toldTo(stream), toldFault(deadlineExceeded()));
  });

  for (const timeout of ["99999999H", "2147484S", "99999999m", "50000000n"]) {
    it(`grpc-timeout ${timeout} is no reason to fail at once`, async (t) => {
      const served = await serve(t, { unary: slowEcho });
      const stream = open(t, served, { "grpc-timeout": timeout }).end(
        frame(toBinary(GetResourceRequestSchema, REQUEST)),
      );
      const [trailers] = (await once(stream.resume(), "trailers")) as [http2.IncomingHttpHeaders];
      assert.equal(trailers["grpc-status"], "0");
    });
  }

  for (const timeout of ["5", "S", "-5S", "5s", "123456789S", "1.5S", "5S, 6S"]) {
    it(`grpc-timeout ${timeout} is INVALID_ARGUMENT`, async (t) => {
      const served = await serve(t, { unary: () => assert.fail("called") });
      const answer = await toldTo(open(t, served, { "grpc-timeout": timeout }).end(frame(new Uint8Array())));
      assert.deepEqual([answer.code, answer.reason], [Code.INVALID_ARGUMENT, "MALFORMED_REQUEST"]);
      assert.match(answer.message, new RegExp(`^grpc-timeout: '${timeout}' is not a timeout`));
    });
  }

  it("a request that does not arrive in time is answered and its stream closed", async (t) => {
    const served = await serve(t, { unary: () => assert.fail("called") }, { requestTimeoutMs: 50 });
    const stream = open(t, served);
    stream.write(Buffer.from([0, 0, 0]));
    const answer = await toldTo(stream);
    assert.deepEqual([answer.code, answer.reason], [Code.DEADLINE_EXCEEDED, "REQUEST_TIMEOUT"]);
    if (!stream.closed) await once(stream, "close");
  });

  it("a call may take longer than its request was given to arrive", async (t) => {
    const { unary, called } = stuck();
    const served = await serve(t, { unary }, { requestTimeoutMs: 20 });
    const stream = open(t, served, { "grpc-timeout": "200m" }).end(frame(new Uint8Array()));
    await called;
    assert.deepEqual(await toldTo(stream), toldFault(deadlineExceeded()));
  });

  it("a client that cancels aborts the signal", async (t) => {
    const { unary, called } = stuck();
    const served = await serve(t, { unary });
    const calls: grpc.ClientUnaryCall[] = [];
    const answer = failure(get(grpcClient(t, served), { onCall: (call) => calls.push(call) }));
    const { signal } = await called;
    const aborted = once(signal, "abort");
    calls[0]?.cancel();
    await aborted;
    assert.equal((signal.reason as Error).name, "AbortError");
    assert.equal(told(await answer).code, Code.CANCELLED);
  });

  it("a client that hangs up aborts the signal", async (t) => {
    const { unary, called } = stuck();
    const served = await serve(t, { unary });
    const stream = open(t, served).end(frame(new Uint8Array()));
    stream.on("error", () => {});
    const { signal } = await called;
    const aborted = once(signal, "abort");
    stream.session?.destroy();
    await aborted;
    assert.equal((signal.reason as Error).name, "AbortError");
  });

  it("a call that was answered aborts nothing", async (t) => {
    const seen: Incoming[] = [];
    const served = await serve(t, {
      unary: (rpc, request, incoming) => {
        seen.push(incoming);
        return echo(rpc, request);
      },
    });
    const stream = open(t, served, { "grpc-timeout": "1H" }).end(frame(new Uint8Array()));
    await buffer(stream);
    assert.equal(seen[0]?.signal.aborted, false);
  });

  it("streams that are reset at any point leave the server well", async (t) => {
    const replies: (() => void)[] = [];
    const served = await serve(t, {
      unary: async (rpc, request) => {
        await new Promise<void>((resolve) => replies.push(resolve));
        return echo(rpc, request);
      },
    });
    const session = http2.connect(served.url);
    t.after(() => session.destroy());
    const bytes = frame(toBinary(GetResourceRequestSchema, REQUEST));
    for (let i = 0; i < 60; i++) {
      const stream = session.request({
        ":method": "POST",
        ":path": PATH,
        "content-type": "application/grpc",
      });
      stream.on("error", () => {});
      if (i % 3 > 0) stream.write(bytes.subarray(0, i % 3 === 1 ? 7 : bytes.length));
      if (i % 2) stream.end();
      const closed = once(stream, "close");
      // Half of them are reset when the server has seen what was sent, half in the same breath.
      if (i % 4 > 1) await new Promise((resolve) => session.ping(resolve));
      stream.close(http2.constants.NGHTTP2_CANCEL);
      for (const reply of replies.splice(0)) reply();
      await closed;
    }
    const last = get(grpcClient(t, served));
    const tick = setInterval(() => {
      for (const reply of replies.splice(0)) reply();
    }, 1);
    t.after(() => clearInterval(tick));
    assert.equal((await last).name, "größe");
  });
});
