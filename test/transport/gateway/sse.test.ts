import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import type { FastifyServerOptions } from "fastify";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Fault, notFound } from "../../../src/domain/fault.js";
import { deferred, type Envelope, fieldsOf, JSON_TYPE, openGateway, type Seen, send } from "./fixture.js";

const MIB = 1024 * 1024;
const WATCH = "POST /v1/agent/watch";

const event = (seq: bigint) => ({
  cursor: `u1:${seq}`,
  update: { case: "event", value: { seq, eventId: `e${seq}`, attempt: 0 } },
});
const liveText = (piece: string) => ({
  update: {
    case: "liveText",
    value: { runId: 1n, attempt: 1, text: piece },
  },
});
const heartbeat = { update: { case: "heartbeat", value: {} } };

describe("a stream is Server-Sent Events:", () => {
  it("one message each, with its cursor as id, heartbeats as comments", async (t) => {
    const { port } = await openGateway(t, {
      async *stream() {
        yield liveText("a\nb");
        yield heartbeat;
        yield { cursor: "u1:7", update: { case: "heartbeat", value: {} } };
        yield { cursor: "u1:8" };
      },
    });
    const { status, headers, text } = await send(port, WATCH, "{}");
    assert.equal(status, 200);
    assert.equal(headers["content-type"], "text/event-stream");
    assert.equal(headers["cache-control"], "no-store");
    assert.equal(
      text,
      'data: {"cursor":"","liveText":{"runId":"1","attempt":1,"text":"a\\nb"}}\n\n' +
        ": heartbeat\n\n: heartbeat\n\n" +
        'id: u1:8\ndata: {"cursor":"u1:8"}\n\n',
    );
  });

  it("no message at all is an empty stream", async (t) => {
    const { port } = await openGateway(t, { async *stream() {} });
    const { status, headers, text } = await send(port, WATCH);
    assert.deepEqual([status, headers["content-type"], text], [200, "text/event-stream", ""]);
  });

  it("each message goes out when it comes", async (t) => {
    const more = deferred();
    const { port } = await openGateway(t, {
      async *stream() {
        yield event(1n);
        await more.promise;
      },
    });
    const request = http.request({ port, path: "/v1/agent/watch", method: "POST" }).end();
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    const [chunk] = (await once(response, "data")) as [Buffer];
    assert.match(chunk.toString(), /^id: u1:1\ndata: \{.*\}\n\n$/);
    more.resolve();
    assert.equal(await text(response), "");
  });

  it("what goes wrong before the first message is an answer with a status", async (t) => {
    const { port } = await openGateway(t, {
      // biome-ignore lint/correctness/useYield: it fails before it could
      async *stream() {
        throw notFound("AGENT_NOT_FOUND", "no such agent");
      },
    });
    const { status, headers, text } = await send(port, WATCH, "{}");
    assert.equal(status, 404);
    assert.equal(headers["content-type"], "application/json");
    assert.equal((JSON.parse(text) as Envelope).message, "no such agent");
  });

  for (const [sentence, error, code, logs] of [
    ["a fault", new Fault(Code.UNAVAILABLE, "SERVER_STOPPING", "stopping"), 14, 0],
    ["a bug", new TypeError("secret"), 13, 1],
  ] as const) {
    it(`${sentence} after the first message is an event of the type error, and the last`, async (t) => {
      const { port, logged } = await openGateway(t, {
        async *stream() {
          yield liveText("a");
          throw error;
        },
      });
      const { status, text } = await send(port, WATCH, "{}");
      assert.equal(status, 200);
      const [first, last, rest] = text.split("\n\n");
      assert.match(first ?? "", /^data: /);
      assert.match(last ?? "", /^event: error\ndata: /);
      assert.equal(rest, "");
      const envelope = JSON.parse((last ?? "").replace(/^event: error\ndata: /, "")) as Envelope;
      assert.equal(envelope.code, code);
      assert.doesNotMatch(text, /secret/);
      assert.equal(logged.length, logs);
    });
  }

  const cursors: [sentence: string, body: string, id: string | undefined, afterSeq: bigint | undefined][] = [
    ["without a cursor there is none", "{}", undefined, undefined],
    ["the body gives the cursor", '{"afterSeq":"3"}', undefined, 3n],
    ["Last-Event-ID gives the cursor", "{}", "u1:5", 5n],
    ["Last-Event-ID is taken over the body", '{"afterSeq":"3"}', "u1:0", 0n],
    ["an empty Last-Event-ID is none", '{"afterSeq":"3"}', "", 3n],
  ];
  for (const [sentence, body, id, afterSeq] of cursors) {
    it(sentence, async (t) => {
      const { port, seen } = await openGateway(t);
      const headers = { ...JSON_TYPE, ...(id === undefined ? {} : { "last-event-id": id }) };
      assert.equal((await send(port, WATCH, body, headers)).status, 200);
      assert.equal(seen[0]?.request.afterSeq, afterSeq);
    });
  }

  for (const id of ["5", "u1:", "u1:-1", "u1:x", "a:b:1", "u1:9999999999999999999"]) {
    it(`the Last-Event-ID ${id} is refused`, async (t) => {
      const { port, seen } = await openGateway(t);
      const { status, text } = await send(port, WATCH, "{}", { ...JSON_TYPE, "last-event-id": id });
      assert.equal(status, 400);
      assert.deepEqual(fieldsOf(JSON.parse(text) as Envelope), ["Last-Event-ID"]);
      assert.equal(seen.length, 0);
    });
  }

  for (const version of [1, 2]) {
    it(`a stream goes no faster than its reader, and ends when the reader leaves, over HTTP/${version}`, async (t) => {
      let sent = 0;
      const ended = deferred<AbortSignal>();
      const { url } = await openGateway(t, {
        app: (version === 2 ? { http2: true } : {}) as FastifyServerOptions,
        async *stream({ incoming }: Seen) {
          const { signal } = incoming;
          try {
            for (;;) {
              sent += MIB / 16;
              yield liveText("x".repeat(MIB / 16));
            }
          } finally {
            ended.resolve(signal);
          }
        },
      });
      const { response, leave } = await (version === 1 ? watch1(url) : watch2(url));
      t.after(leave);
      let received = 0;
      for await (const chunk of response as AsyncIterable<Buffer>) {
        received += chunk.length;
        assert.ok(sent - received < 12 * MIB, `${sent} bytes sent, ${received} received`);
        if (received > 16 * MIB) break;
      }
      leave();
      assert.equal((await ended.promise).aborted, true);
    });

    it(`a reader that takes nothing is cut, over HTTP/${version}`, async (t) => {
      const ended = deferred<void>();
      const { url } = await openGateway(t, {
        app: (version === 2 ? { http2: true } : {}) as FastifyServerOptions,
        slowReaderMs: 50,
        async *stream() {
          try {
            for (;;) yield liveText("x".repeat(MIB / 16));
          } finally {
            ended.resolve();
          }
        },
      });
      const { response, leave } = await (version === 1 ? watch1(url) : watch2(url));
      t.after(leave);
      await ended.promise;
      // As the client sees it, an aborted response.
      response.on("error", () => {}).resume();
      if (!response.closed) await new Promise((resolve) => response.on("close", resolve));
    });
  }
});

async function watch1(url: string) {
  const request = http.request(`${url}/v1/agent/watch`, { method: "POST" }).end();
  request.on("error", () => {});
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  return { response, leave: () => void request.destroy() };
}

async function watch2(url: string) {
  const session = http2.connect(url);
  const stream = session.request({ ":method": "POST", ":path": "/v1/agent/watch" }).end();
  stream.on("error", () => {});
  await once(stream, "response");
  return { response: stream, leave: () => session.destroy() };
}
