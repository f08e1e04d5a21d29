import assert from "node:assert/strict";
import { once } from "node:events";
import type http from "node:http";
import http2 from "node:http2";
import type net from "node:net";
import { describe } from "node:test";
import fastify from "fastify";
import type { Handler } from "../../src/transport/port/http1-server.js";
import { createPort } from "../../src/transport/port/port.js";
import {
  answer2,
  ask1,
  connect2,
  connectBoth,
  connections,
  connectRaw,
  deferred,
  drip,
  echo,
  envelopeIn,
  frame,
  GET,
  HALF_POST,
  it,
  OPTIONS,
  open,
  PREFACE,
  post2,
  SETTINGS,
  until,
} from "./port-clients.js";

const because = (reason: string) => [
  { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "retinue", metadata: {} },
];
const MALFORMED = { code: 3, message: "malformed HTTP request", details: because("MALFORMED_REQUEST") };
const TOO_SLOW = {
  code: 4,
  message: "the request did not arrive in time",
  details: because("REQUEST_TIMEOUT"),
};

describe("slow clients", () => {
  const quick = { headersTimeoutMs: 150, requestTimeoutMs: 300 };

  it("are cut when they send nothing, but not at once", async (t) => {
    const { port } = await open(t, echo, quick);
    const start = performance.now();
    const { closed } = await connectRaw(t, port);
    assert.equal(await closed, "");
    assert.ok(performance.now() - start >= 140);
  });

  it("are cut when they send too little to tell the protocol", async (t) => {
    const { port } = await open(t, echo, quick);
    const { socket, closed } = await connectRaw(t, port);
    socket.write(PREFACE.slice(0, 20));
    assert.equal(await closed, "");
  });

  it("are cut when their HTTP/1 head never ends, however busy they are", async (t) => {
    const { port } = await open(t, echo, { headersTimeoutMs: 150, requestTimeoutMs: 60_000 });
    const { socket, closed } = await connectRaw(t, port);
    socket.write("GET / HTTP/1.1\r\nhost: x\r\n");
    const busy = setInterval(() => socket.write("a: b\r\n"), 20);
    const answer = await closed;
    clearInterval(busy);
    assert.deepEqual(envelopeIn(answer, 504), TOO_SLOW);
  });

  it("are cut when their HTTP/1 body never ends, and the handler is told", async (t) => {
    const told = deferred<boolean>();
    const handler: Handler = (req) => {
      req.on("error", () => {}).resume();
      req.once("close", () => told.resolve(req.complete));
    };
    const { port } = await open(t, handler, quick);
    const { socket, closed } = await connectRaw(t, port);
    socket.write(HALF_POST);
    assert.deepEqual(envelopeIn(await closed, 504), TOO_SLOW);
    assert.equal(await told.promise, false);
  });

  for (const [what, reads] of [
    ["reads", true],
    ["does not read", false],
  ] as const) {
    it(`are cut when their HTTP/2 body never ends, and a handler that ${what} is told`, async (t) => {
      const told = deferred<boolean>();
      const handler: Handler = (req, res) => {
        if (reads) req.resume();
        res.once("close", () => told.resolve(req.aborted));
      };
      const { url } = await open(t, handler, quick);
      const session = connect2(t, url);
      const stream = post2(session);
      stream.write("abc");
      await once(stream, "close");
      assert.equal(stream.rstCode, http2.constants.NGHTTP2_CANCEL);
      assert.equal(await told.promise, true);
      assert.equal(session.destroyed, false);
    });
  }

  it("are left alone in HTTP/2 once their request is complete, and in RPC streams", async (t) => {
    const patient: http.ServerResponse[] = [];
    const handler: Handler = (req, res) => {
      req.resume();
      if (req.url === "/patient") patient.push(res);
    };
    const { url } = await open(t, handler, quick);
    const session = connect2(t, url);
    const whole = post2(session, { ":path": "/patient" });
    whole.end("whole");
    const types = ["application/grpc", "application/grpc-web+proto", "application/connect+json"];
    const streaming = types.map((type) => post2(session, { ":path": "/patient", "content-type": type }));
    for (const stream of streaming) stream.write("part");
    // The clock: it came last, so when it is cut the time of the others is over.
    const clock = post2(session);
    clock.write("part");
    await once(clock, "close");
    const answers = Promise.all([whole, ...streaming].map(answer2));
    for (const res of patient) res.end("late");
    assert.deepEqual(new Set((await answers).map((a) => a.body)), new Set(["late"]));
  });

  it("are left alone in HTTP/1 once their request is complete", async (t) => {
    const held = deferred<http.ServerResponse>();
    const { port, url } = await open(t, (_req, res) => held.resolve(res), quick);
    const answer = ask1(url);
    const res = await held.promise;
    const clock = await connectRaw(t, port);
    clock.socket.write(HALF_POST);
    await clock.closed;
    res.end("late");
    assert.equal((await answer).body, "late");
  });

  it("cannot be given all the time in the world by a time-out of 0", async () => {
    assert.throws(() => createPort(echo, { ...OPTIONS, headersTimeoutMs: 0 }), RangeError);
    assert.throws(() => createPort(echo, { ...OPTIONS, requestTimeoutMs: 0 }), RangeError);
  });
});

describe("idle connections", () => {
  it("are closed after the keep-alive time in HTTP/1", async (t) => {
    const { port } = await open(t, echo, { keepAliveMs: 100 });
    const { socket, closed } = await connectRaw(t, port);
    socket.write(GET);
    assert.match(await closed, /^HTTP\/1.1 200 OK\r\n/);
  });

  it("are told to go after the keep-alive time in HTTP/2, PING or not", async (t) => {
    const { url } = await open(t, echo, { keepAliveMs: 150 });
    const session = connect2(t, url);
    await answer2(session.request());
    const busy = setInterval(() => session.destroyed || session.closed || session.ping(() => {}), 20);
    const [code] = await once(session, "goaway");
    clearInterval(busy);
    assert.equal(code, http2.constants.NGHTTP2_NO_ERROR);
    await once(session, "close");
  });

  it("are cut if they do not go", async (t) => {
    const opened = await open(t, echo, { keepAliveMs: 100 });
    const { socket, peer } = await connectBoth(t, opened, { allowHalfOpen: true });
    socket.write(PREFACE);
    socket.write(SETTINGS);
    await once(socket, "end"); // GOAWAY and the server's half of the goodbye; we never say ours
    assert.equal(peer.destroyed, false);
    await once(peer, "close");
  });

  it("are not those with a silent HTTP/2 stream", async (t) => {
    const held = deferred<http.ServerResponse>();
    const { url } = await open(t, (_req, res) => held.resolve(res), { keepAliveMs: 100 });
    const session = connect2(t, url);
    const answer = answer2(session.request());
    const res = await held.promise;
    const clock = connect2(t, url);
    await once(clock, "close");
    await new Promise((resolve) => session.ping(resolve)); // a GOAWAY would be here before the answer to this
    assert.equal(session.closed, false);
    res.end("at last");
    assert.equal((await answer).body, "at last");
    await once(session, "close"); // now that nothing is open its time runs again
  });

  it("make room: too many are closed at once, and one more is served when one is gone", async (t) => {
    const { url, port, server } = await open(t, echo, { maxConnections: 1 });
    const first = await connectRaw(t, port);
    first.socket.write(GET);
    await once(first.socket, "data");
    const second = await connectRaw(t, port);
    second.socket.write(GET);
    assert.equal(await second.closed, "");
    first.socket.destroy();
    await until(async () => (await connections(server)) === 0);
    assert.equal((await ask1(url)).status, 200);
  });
});

describe("malformed input", () => {
  const post = "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
  /** Reads what it is sent, and answers if that ends well. */
  const reader: Handler = (req, res) => {
    req.on("error", () => {}).resume();
    req.on("end", () => res.end());
  };

  const rows: [name: string, bytes: string][] = [
    ["bytes that are no HTTP", "\x00\x01\x02 nonsense\r\n\r\n"],
    ["a TLS hello on a cleartext port", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["almost an HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\rX"],
    ["a bad header", "GET / HTTP/1.1\r\nhost x\r\n\r\n"],
    ["a head that is too large", `GET / HTTP/1.1\r\nhost: x\r\nbig: ${"x".repeat(17 * 1024)}\r\n\r\n`],
    ["a bad chunk", `${post}ZZ\r\n`],
  ];
  for (const [name, bytes] of rows) {
    it(`${name}: 400 with the envelope, connection closed`, async (t) => {
      const { port, url } = await open(t, reader);
      const { socket, closed } = await connectRaw(t, port);
      socket.write(bytes, "latin1");
      assert.deepEqual(envelopeIn(await closed, 400), MALFORMED);
      assert.equal((await answer2(connect2(t, url).request())).status, 200);
    });
  }

  it("a head that is too large for HTTP/2 ends its stream, also before the settings are known", async (t) => {
    const served: string[] = [];
    const { url } = await open(t, (req, res) => {
      served.push(req.url ?? "");
      res.end();
    });
    const session = connect2(t, url);
    const big = { big: "x".repeat(17 * 1024) };
    const early = session.request({ ":path": "/early", ...big });
    await assert.rejects(answer2(early), { message: /ENHANCE_YOUR_CALM/ });
    assert.equal((await answer2(session.request({ ":path": "/small" }))).status, 200);
    await assert.rejects(answer2(session.request({ ":path": "/late", ...big })), {
      message: /ENHANCE_YOUR_CALM/,
    });
    const fits = { ":path": "/fits", big: "x".repeat(15 * 1024) };
    assert.equal((await answer2(session.request(fits))).status, 200);
    assert.deepEqual(served, ["/small", "/fits"]);
  });

  it("a head without Host: 400 with the envelope", async (t) => {
    const { port } = await open(t, echo);
    const { socket, closed } = await connectRaw(t, port);
    socket.write("GET / HTTP/1.1\r\n\r\n");
    const message = "malformed HTTP request: the Host header is missing";
    assert.deepEqual(envelopeIn(await closed, 400), { ...MALFORMED, message });
  });

  it("an expectation that nobody knows is ignored in HTTP/1", async (t) => {
    const { url } = await open(t, echo);
    assert.equal((await ask1(url, { headers: { expect: "the unexpected" } })).status, 200);
  });

  it("from a client that does not hang up afterwards: the connection is cut", async (t) => {
    const { socket, peer } = await connectBoth(t, await open(t, echo), { allowHalfOpen: true });
    socket.write("nonsense\r\n\r\n");
    await once(socket, "end");
    // Not before it has had the time to read the answer, even if it goes on.
    await drip(socket, peer, "nonsense\r\n\r\n");
    assert.equal(peer.destroyed, false);
    await once(peer, "close");
  });

  it("after a whole request is not answered in that request's place", async (t) => {
    const { port } = await open(t, () => {});
    const { socket, closed } = await connectRaw(t, port);
    socket.write(`${GET}nonsense\r\n\r\n`);
    assert.equal(await closed, "");
  });

  it("in a body whose answer has begun is not answered in the middle of it", async (t) => {
    const handler: Handler = (req, res) => {
      req.on("error", () => {}).resume();
      res.write("begun");
    };
    const { port } = await open(t, handler);
    const { socket, closed } = await connectRaw(t, port);
    socket.write(post);
    await once(socket, "data");
    socket.write("ZZ\r\n");
    assert.match(await closed, /^HTTP\/1.1 200 OK\r\n.*\r\n5\r\nbegun\r\n$/s);
  });

  it("after an HTTP/2 preface closes the connection and nothing else", async (t) => {
    const { port, url } = await open(t, echo);
    const { socket, closed } = await connectRaw(t, port);
    socket.write(`${PREFACE}nonsense that is no frame at all`);
    await closed;
    assert.equal((await answer2(connect2(t, url).request())).status, 200);
  });

  it("and resets at any point leave the port serving", async (t) => {
    const { port, url, server } = await open(t, echo);
    for (const bytes of ["", "P", "GET / HT", GET, PREFACE, PREFACE + SETTINGS.toString("latin1")]) {
      const { socket } = await connectRaw(t, port);
      if (bytes) await new Promise((done) => socket.write(bytes, "latin1", done));
      socket.resetAndDestroy();
    }
    await until(async () => (await connections(server)) === 0);
    assert.equal((await ask1(url)).status, 200);
  });
});

describe("half a body never reaches a route of Fastify", () => {
  const json = '{"whole":"as far as one can tell"}';
  const head1 =
    "POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
  const half1 = `${head1}${json.length.toString(16)}\r\n${json}\r\n`;
  // Node's client ends a stream before it resets it, so its requests are never cut short: hence bare frames.
  // HPACK by hand: :method POST, :scheme http, :path / from the table; :authority, content-type literally.
  const head2 = frame(1, 4, 1, "\x83\x86\x84\x01\x01x\x0f\x10\x10application/json");
  const half2 = Buffer.concat([Buffer.from(PREFACE), SETTINGS, head2, frame(0, 0, 1, json)]);
  const reset = (code: number) => frame(3, 0, 1, `\0\0\0${String.fromCharCode(code)}`);

  const rows: [name: string, half: string | Buffer, abort: (socket: net.Socket) => unknown][] = [
    ["HTTP/1, disconnected", half1, (socket) => socket.destroy()],
    ["HTTP/1, too slow", half1, () => {}],
    ["HTTP/2, disconnected", half2, (socket) => socket.destroy()],
    ["HTTP/2, too slow", half2, () => {}],
    ["HTTP/2, reset with CANCEL", half2, (socket) => socket.write(reset(8))],
    ["HTTP/2, reset with NO_ERROR", half2, (socket) => socket.write(reset(0))],
  ];
  for (const [name, half, abort] of rows) {
    it(name, async (t) => {
      const [entered, outcome, gone] = [deferred<http.IncomingMessage>(), deferred<string>(), deferred()];
      const app = fastify();
      let closes = 0;
      app.addHook("onRequest", async (request, reply) => {
        request.raw.on("close", () => closes++);
        reply.raw.once("close", gone.resolve);
        entered.resolve(request.raw);
      });
      app.post("/", async () => outcome.resolve("ran"));
      app.setErrorHandler((error, _request, reply) => {
        outcome.resolve("failed");
        reply.send(error); // an answer to a stream that is gone
      });
      await app.ready();
      const { port } = await open(t, app.routing, { headersTimeoutMs: 150, requestTimeoutMs: 150 });
      const { socket } = await connectRaw(t, port);
      socket.write(half);
      const request = await entered.promise;
      await until(() => request.readableDidRead);
      abort(socket);
      assert.equal(await outcome.promise, "failed");
      await gone.promise;
      assert.equal(closes, 1);
    });
  }
});
