import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { buffer } from "node:stream/consumers";
import { describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code } from "../../gen/google/rpc/code_pb.js";
import { WatchRequestSchema } from "../../gen/retinue/v1/timeline_service_pb.js";
import { Fault, invalidField, notFound } from "../../src/domain/fault.js";
import { deadlineExceeded, type Incoming } from "../../src/transport/call.js";
import { type Answers, packed, type Served, serve, type Told, toldFault, toldOf } from "./rpc-server.js";

type Stream = NonNullable<Answers["stream"]>;

/** The same protocol twice: a compression that is named but not used makes it Connect's. */
const LANES = [
  ["the short lane", {}],
  ["Connect", { "grpc-encoding": "gzip", "grpc-accept-encoding": "identity" }],
] as const;

interface Seen {
  readonly head: http2.IncomingHttpHeaders;
  readonly body: string;
  readonly told: Told;
}

function open(t: { after(work: () => unknown): void }, served: Served, headers: http2.OutgoingHttpHeaders) {
  const session = http2.connect(served.url);
  t.after(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": "/retinue.v1.TimelineService/Watch",
    "content-type": "application/grpc",
    ...headers,
  });
  const message = toBinary(WatchRequestSchema, create(WatchRequestSchema));
  stream.end(Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]));
  return stream;
}

/** Everything that a client sees of a stream, from its head to its end. */
async function all(stream: http2.ClientHttp2Stream): Promise<Seen> {
  let last: http2.IncomingHttpHeaders = {};
  stream.on("trailers", (trailers: http2.IncomingHttpHeaders) => {
    last = trailers;
  });
  const [head] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
  const body = (await buffer(stream)).toString("hex");
  const end = head["grpc-status"] === undefined ? last : head;
  const details = end["grpc-status-details-bin"] as string | undefined;
  const told = toldOf(
    Number(end["grpc-status"]),
    decodeURIComponent(String(end["grpc-message"] ?? "")),
    packed(details === undefined ? undefined : Buffer.from(details, "base64")),
  );
  return { head, body, told };
}

const cursors = async function* (...texts: string[]) {
  for (const cursor of texts) yield { cursor };
};

function failing(texts: readonly string[], error: unknown): Stream {
  return async function* () {
    yield* cursors(...texts);
    throw error;
  };
}

/** Says one message, then nothing, and never looks at its signal. */
function stuck() {
  const state: { found?: (incoming: Incoming) => void } = {};
  const called = new Promise<Incoming>((resolve) => (state.found = resolve));
  const stream: Stream = async function* (_rpc, _request, incoming) {
    yield { cursor: "first" };
    state.found?.(incoming);
    await new Promise<never>(() => {});
  };
  return { stream, called };
}

const unencodable: Stream = async function* () {
  yield { cursor: "a" };
  yield { update: { case: "liveText", value: { runId: "many" } } };
};

const long = notFound("RESOURCE_NOT_FOUND", "größe 100 % 🙂".repeat(500));

const ROWS: readonly (readonly [sentence: string, stream: Stream, code: Code])[] = [
  ["three messages", () => cursors("a", "größe", "c".repeat(100_000)), Code.OK],
  ["no message", () => cursors(), Code.OK],
  ["a fault in place of the first message", failing([], long), Code.NOT_FOUND],
  [
    "a fault after two messages",
    failing(["a", "b"], invalidField("x", "must be \n y")),
    Code.INVALID_ARGUMENT,
  ],
  ["a bug after a message", failing(["a"], new Error("secret")), Code.INTERNAL],
  ["a message that cannot be encoded", unencodable, Code.INTERNAL],
];

describe("a gRPC stream", () => {
  for (const [sentence, stream, code] of ROWS) {
    it(`${sentence}: ${Code[code]}, on the short lane as through Connect`, async (t) => {
      const served = await serve(t, { stream });
      const [lane, connect] = await Promise.all(LANES.map(([, header]) => all(open(t, served, header))));
      assert.deepEqual(served.laneTook.toSorted(), [false, true]);
      assert.equal(lane?.told.code, code);
      assert.deepEqual(lane?.told, connect?.told);
      assert.equal(lane?.body, connect?.body);
      assert.equal(lane?.head[":status"], 200);
    });
  }

  for (const [name, header] of LANES) {
    it(`${name}: a deadline ends a handler that never returns, after what it has said`, async (t) => {
      const { stream, called } = stuck();
      const served = await serve(t, { stream });
      const seen = all(open(t, served, { ...header, "grpc-timeout": "300m" }));
      const { signal } = await called;
      const { told, body } = await seen;
      assert.deepEqual(told, toldFault(deadlineExceeded()));
      assert.notEqual(body, "");
      assert.equal((signal.reason as Error).name, "TimeoutError");
    });

    it(`${name}: a client that cancels aborts the signal at once`, async (t) => {
      const { stream, called } = stuck();
      const served = await serve(t, { stream });
      const client = open(t, served, header).on("error", () => {});
      const { signal } = await called;
      const aborted = once(signal, "abort");
      client.close(http2.constants.NGHTTP2_CANCEL);
      await aborted;
      assert.equal((signal.reason as Error).name, "AbortError");
    });

    it(`${name}: a handler is asked for more only when the client has room`, async (t) => {
      let made = 0;
      const served = await serve(t, {
        async *stream() {
          for (; made < 100; made++) yield { cursor: "x".repeat(50_000) };
        },
      });
      const client = open(t, served, header);
      await once(client, "response");
      // Nothing is read, and yet the connection moves: what the server could write by now, it has.
      for (let i = 0; i < 3; i++) await new Promise((resolve) => client.session?.ping(resolve));
      assert.ok(made < 20, `${made} messages of 50 kB were made for a client that reads none`);
      assert.equal((await buffer(client)).length, 100 * (50_000 + 4 + 5));
      assert.equal(made, 100);
    });
  }

  it("a client that does not read is cut, and its handler ended", async (t) => {
    let ended = () => {};
    const over = new Promise<void>((resolve) => (ended = resolve));
    const served = await serve(
      t,
      {
        async *stream() {
          try {
            for (;;) yield { cursor: "x".repeat(50_000) };
          } finally {
            ended();
          }
        },
      },
      { slowReaderMs: 50 },
    );
    const client = open(t, served, {}).on("error", () => {});
    await once(client, "response");
    await over;
    while (!client.closed) await new Promise((resolve) => client.session?.ping(resolve));
    assert.equal(client.rstCode, http2.constants.NGHTTP2_CANCEL);
  });

  it("a fault for a client that does not read is not waited for either", async (t) => {
    const served = await serve(
      t,
      { stream: failing(["x".repeat(200_000)], new Fault(Code.ABORTED, "X", "x")) },
      { slowReaderMs: 50 },
    );
    const client = open(t, served, { "grpc-timeout": "20m" }).on("error", () => {});
    await once(client, "response");
    while (!client.closed) await new Promise((resolve) => client.session?.ping(resolve));
    assert.equal(client.rstCode, http2.constants.NGHTTP2_CANCEL);
  });
});
