import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import net from "node:net";
import { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { before, describe, type TestContext } from "node:test";
import tls from "node:tls";
import fastify, { type FastifyServerOptions } from "fastify";
import type { Handler } from "../../src/transport/port/http1-server.js";
import { createPort, type Port } from "../../src/transport/port/port.js";
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
  GET,
  HALF_POST,
  it,
  makeCertificates,
  OPTIONS,
  open,
  PREFACE,
  post2,
  SETTINGS,
  until,
} from "./port-clients.js";

describe("cleartext", () => {
  it("serves HTTP/1.1", async (t) => {
    const { url } = await open(t, echo);
    const { status, body } = await ask1(`${url}/a`, { method: "POST" });
    assert.equal(status, 200);
    assert.equal(body, "1.1 cleartext POST /a one");
  });

  it("serves HTTP/2 with prior knowledge", async (t) => {
    const { url } = await open(t, echo);
    const stream = post2(connect2(t, url), { ":path": "/b" });
    stream.end("two");
    assert.deepEqual(await answer2(stream), { status: 200, body: "2.0 cleartext POST /b two" });
  });

  it("serves both on the same port at the same time", async (t) => {
    const { url } = await open(t, echo);
    const session = connect2(t, url);
    const ask = (i: number) => (i % 2 ? ask1(url) : answer2(session.request({ ":path": "/" })));
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => ask(i)));
    for (const [i, { body }] of answers.entries()) {
      assert.equal(body, `${i % 2 ? "1.1" : "2.0"} cleartext GET / `);
    }
  });

  it("recognises an HTTP/2 preface that comes byte by byte", async (t) => {
    const { socket, peer } = await connectBoth(t, await open(t, echo));
    // Node's own client, on a stream that hands over its bytes one by one, the preface first of all.
    const bytewise = new Duplex({
      read() {},
      write: (chunk: Buffer, _encoding, done) => void drip(socket, peer, chunk).then(() => done(), done),
    });
    socket.on("data", (chunk) => bytewise.push(chunk));
    const session = connect2(t, "http://x", { createConnection: () => bytewise });
    assert.equal((await answer2(session.request({ ":path": "/" }))).body, "2.0 cleartext GET / ");
  });

  it("serves an HTTP/1 request that comes byte by byte", async (t) => {
    const { socket, peer, closed } = await connectBoth(t, await open(t, echo));
    // It begins like the preface, so that the port has to change its mind.
    const head = "PROPFIND /p HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 5\r\n\r\n";
    await drip(socket, peer, `${head}abcde`);
    assert.match(await closed, /1\.1 cleartext PROPFIND \/p abcde/);
  });

  it("serves pipelined HTTP/1 requests in order", async (t) => {
    const { port } = await open(t, echo);
    const { socket, closed } = await connectRaw(t, port);
    const post = "POST /2 HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    socket.write(`${GET}${post}GET /3 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    const [, ...bodies] = (await closed).split(/HTTP\/1.1 200 OK\r\n.*?\r\n\r\n/s);
    assert.deepEqual(bodies, [
      "1.1 cleartext GET /hello ",
      "1.1 cleartext POST /2 abc",
      "1.1 cleartext GET /3 ",
    ]);
  });
});

describe("TLS", () => {
  let certificates: ReturnType<typeof makeCertificates>;
  before(() => {
    certificates = makeCertificates();
  });

  it("serves HTTP/1.1 to a client that offers no ALPN, and to one that offers http/1.1", async (t) => {
    const { ca, server } = certificates;
    const { url } = await open(t, echo, { tls: server });
    for (const alpn of [{}, { ALPNProtocols: ["http/1.1"] }]) {
      const { body } = await ask1(`${url}/a`, { ca, method: "POST", agent: new https.Agent(alpn) });
      assert.equal(body, "1.1 TLS POST /a one");
    }
  });

  it("serves HTTP/2 to a client that offers h2", async (t) => {
    const { ca, server } = certificates;
    const { url } = await open(t, echo, { tls: server });
    const session = connect2(t, url, { ca });
    const stream = post2(session);
    stream.end("two");
    assert.equal((await answer2(stream)).body, "2.0 TLS POST / two");
    assert.equal(session.alpnProtocol, "h2");
  });

  it("asks for a client certificate when it is given a client CA, in both protocols", async (t) => {
    const { ca, server, client, stranger } = certificates;
    const { url } = await open(t, echo, { tls: { ...server, clientCa: ca } });
    assert.equal((await ask1(url, { ca, ...client })).status, 200);
    assert.equal((await answer2(connect2(t, url, { ca, ...client }).request())).status, 200);
    for (const certificate of [{}, stranger]) {
      await assert.rejects(ask1(url, { ca, ...certificate }));
      await assert.rejects(answer2(connect2(t, url, { ca, ...certificate }).request()));
    }
  });

  it("drops cleartext, broken and stalled handshakes, and goes on", async (t) => {
    const { ca } = certificates;
    const { url, port, server } = await open(t, echo, { tls: certificates.server, headersTimeoutMs: 150 });
    const cleartext = await connectRaw(t, port);
    cleartext.socket.write(GET);
    await cleartext.closed;
    const reset = await connectRaw(t, port);
    reset.socket.resetAndDestroy();
    const silent = await connectRaw(t, port);
    assert.equal(await silent.closed, "");
    assert.equal((await ask1(url, { ca })).status, 200);
    await until(async () => (await connections(server)) === 0);
  });

  it("cuts a client that says nothing after the handshake", async (t) => {
    const { ca, server } = certificates;
    const { port } = await open(t, echo, { tls: server, headersTimeoutMs: 150 });
    for (const ALPNProtocols of [["http/1.1"], ["h2"]]) {
      const socket = tls.connect({ port, host: "127.0.0.1", ca, ALPNProtocols });
      socket.resume();
      await once(socket, "secureConnect");
      await once(socket, "close");
    }
  });

  it("does not serve a client whose handshake ends during a drain", async (t) => {
    const { ca, server } = certificates;
    const opened = await open(t, echo, { tls: server });
    const { socket } = await connectBoth(t, opened);
    socket.removeAllListeners("data");
    const drained = opened.drain(60_000);
    const secure = tls.connect({ socket, ca, host: "127.0.0.1", ALPNProtocols: ["h2"] });
    secure.on("error", () => {});
    secure.write(PREFACE);
    secure.resume();
    await Promise.all([once(secure, "close"), drained]);
  });

  it("drains, and forgets the sockets that are gone", async (t) => {
    const { ca } = certificates;
    const endless: Handler = (_req, res) => void res.write("never ends");
    const { url, server, drain } = await open(t, endless, { tls: certificates.server });
    const stream = post2(connect2(t, url, { ca }));
    await once(stream, "response");
    const req = https.get(url, { ca, agent: false });
    req.on("error", () => {});
    const [res] = (await once(req, "response")) as [http.IncomingMessage];
    const ended = Promise.all([once(stream, "close"), assert.rejects(text(res), { code: "ECONNRESET" })]);
    assert.equal(await connections(server), 2);
    await drain(50);
    await ended;
    assert.equal(await connections(server), 0);
  });
});

describe("HTTP/2 streams", () => {
  it("go to onStream first, and to the handler only if it declines", async (t) => {
    const handled: unknown[] = [];
    const handler: Handler = (req, res) => {
      handled.push(req.url);
      res.end("handler");
    };
    const onStream = (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
      if (headers[":path"] !== "/raw") return false;
      stream.respond({ ":status": 200 });
      stream.end("raw");
      return true;
    };
    const { url } = await open(t, handler, { onStream });
    const session = connect2(t, url);
    assert.equal((await answer2(session.request({ ":path": "/raw" }))).body, "raw");
    assert.equal((await answer2(session.request({ ":path": "/other" }))).body, "handler");
    assert.deepEqual(handled, ["/other"]);
  });

  it("are answered without a body where there is none", async (t) => {
    const { url } = await open(t, (req, res) => void res.writeHead(Number(req.url?.slice(1))).end());
    const session = connect2(t, url);
    for (const status of [200, 204, 304]) {
      for (const method of ["GET", "HEAD"]) {
        const stream = session.request({ ":method": method, ":path": `/${status}` });
        assert.deepEqual(await answer2(stream), { status, body: "" });
        assert.equal(stream.rstCode, http2.constants.NGHTTP2_NO_ERROR);
      }
    }
  });

  it("are told to continue when they expect it, and served when they expect anything else", async (t) => {
    const { url } = await open(t, echo);
    const stream = post2(connect2(t, url), { expect: "100-continue" });
    await once(stream, "continue");
    stream.end("body");
    assert.equal((await answer2(stream)).body, "2.0 cleartext POST / body");
    const curious = connect2(t, url).request({ expect: "the unexpected" });
    assert.equal((await answer2(curious)).status, 200);
  });

  it("are reset for CONNECT, which has no path to route", async (t) => {
    const { url } = await open(t, echo);
    const session = connect2(t, url);
    const stream = session.request({ ":method": "CONNECT", ":authority": "elsewhere:443" });
    await assert.rejects(answer2(stream), /NGHTTP2_PROTOCOL_ERROR/);
    assert.equal((await answer2(session.request())).status, 200);
  });

  it("are limited to 100 at a time and 16 KiB of headers", async (t) => {
    const { url } = await open(t, echo);
    const session = connect2(t, url);
    const [settings] = (await once(session, "remoteSettings")) as [http2.Settings];
    assert.equal(settings.maxConcurrentStreams, 100);
    assert.equal(settings.maxHeaderListSize, 16 * 1024);
    // Node's client does not look at the server's maxHeaderListSize, so it is the server that refuses.
    const big = (kib: number) => session.request({ big: "x".repeat(kib * 1024) });
    await assert.rejects(answer2(big(17)), /NGHTTP2_ENHANCE_YOUR_CALM/);
    assert.equal((await answer2(big(15))).status, 200);
  });
});

describe("a client that disconnects is seen by the handler", () => {
  /** A handler that never answers: when it was entered, and what it was told afterwards. */
  function watcher() {
    const [entered, aborted, closed] = [deferred(), deferred(), deferred()];
    const handler: Handler = (req, res) => {
      req.once("aborted", aborted.resolve);
      req.on("error", () => {});
      res.once("close", closed.resolve);
      entered.resolve();
    };
    return { handler, entered: entered.promise, told: Promise.all([aborted.promise, closed.promise]) };
  }

  it("in HTTP/1", async (t) => {
    const { handler, entered, told } = watcher();
    const { port } = await open(t, handler);
    const { socket } = await connectRaw(t, port);
    socket.write(HALF_POST);
    await entered;
    socket.destroy();
    await told;
  });

  it("in HTTP/2 when it resets the stream", async (t) => {
    const { handler, entered, told } = watcher();
    const { url } = await open(t, handler);
    const stream = connect2(t, url).request();
    await entered;
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await told;
  });

  it("in HTTP/2 when the connection is lost", async (t) => {
    const { handler, entered, told } = watcher();
    const { port, url } = await open(t, handler);
    const socket = net.connect(port, "127.0.0.1");
    post2(connect2(t, url, { createConnection: () => socket }));
    await entered;
    socket.resetAndDestroy();
    await told;
  });
});

describe("drain", () => {
  it("lets requests in flight finish, closes idle connections at once and accepts no more", async (t) => {
    const inFlight: http.ServerResponse[] = [];
    const both = deferred();
    const handler: Handler = (req, res) => {
      if (req.url !== "/slow") res.end("quick");
      else if (inFlight.push(res) === 2) both.resolve();
    };
    const { port, url, drain } = await open(t, handler);
    const silent = await connectRaw(t, port);
    const idle = await connectRaw(t, port);
    idle.socket.write(GET);
    await once(idle.socket, "data");
    const idle2 = connect2(t, url);
    await answer2(idle2.request());
    const slow1 = ask1(`${url}/slow`, { agent: new http.Agent({ keepAlive: true }) });
    const slow2 = answer2(connect2(t, url).request({ ":path": "/slow" }));
    await both.promise;

    t.mock.timers.enable({ apis: ["setInterval"] }); // at once, and not when somebody comes by to look
    const drained = drain(60_000);
    await Promise.all([silent.closed, idle.closed, once(idle2, "close")]);
    await assert.rejects(connectRaw(t, port), { code: "ECONNREFUSED" });
    for (const res of inFlight) res.end("finished");
    const { body, headers } = await slow1;
    assert.equal(body, "finished");
    assert.equal(headers.connection, "close");
    assert.equal((await slow2).body, "finished");
    await drained;
  });

  it("closes a keep-alive connection whose answer had begun before", async (t) => {
    const begun = deferred<http.ServerResponse>();
    const { url, drain } = await open(t, (_req, res) => {
      res.write("event ");
      begun.resolve(res);
    });
    const answer = ask1(url, { agent: new http.Agent({ keepAlive: true }) });
    const res = await begun.promise;
    const drained = drain(60_000);
    res.end("last");
    assert.equal((await answer).body, "event last");
    await drained;
  });

  it("does not wait for an HTTP/2 client that reads nothing, nor for one that does not hang up", async (t) => {
    const { url, drain } = await open(t, (_req, res) => void res.end(Buffer.alloc(1024 * 1024)));
    const unread = connect2(t, url).request();
    unread.on("error", () => {});
    await once(unread, "response");
    const { socket } = await connectRaw(t, Number(new URL(url).port), { allowHalfOpen: true });
    socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS]));
    await once(socket, "data");
    // Far less than the grace: the test has ten seconds.
    await drain(60_000);
  });

  it("destroys what is left when the grace is over", async (t) => {
    const both = deferred();
    let requests = 0;
    const { port, url, server, drain } = await open(t, () => {
      requests += 1;
      if (requests === 2) both.resolve();
    });
    const { socket, closed } = await connectRaw(t, port);
    socket.write(GET);
    post2(connect2(t, url));
    await both.promise;
    const start = performance.now();
    await drain(150);
    const took = performance.now() - start;
    assert.ok(took >= 140 && took < 5000, `took ${took} ms`);
    assert.equal(await closed, "");
    assert.equal(await connections(server), 0);
  });

  it("may be asked for twice, and of a port that never listened", async (t) => {
    const { drain } = await open(t, echo);
    await Promise.all([drain(10), drain(10)]);
    await drain(10);
    await createPort(echo, OPTIONS).drain(10);
  });
});

describe("Fastify", () => {
  function create(t: TestContext, options: FastifyServerOptions = {}) {
    const ports: Port[] = [];
    const app = fastify({
      ...options,
      serverFactory: (handler) => {
        const port = createPort(handler, OPTIONS);
        ports.push(port);
        return port.server as http.Server;
      },
    });
    app.post("/echo", (request) => ({ got: request.body, version: request.raw.httpVersion }));
    t.after(async () => {
      await Promise.all(ports.map((port) => port.drain(0)));
      await app.close();
    });
    return { app, ports };
  }

  /** One request over each protocol, and both connections left open. */
  async function echoes(t: TestContext, url: string) {
    const headers = { "content-type": "application/json" };
    const agent = new http.Agent({ keepAlive: true });
    const req = http.request(`${url}/echo`, { method: "POST", headers, agent });
    req.end('{"a":1}');
    const [res] = (await once(req, "response")) as [http.IncomingMessage];
    assert.equal(await text(res), '{"got":{"a":1},"version":"1.1"}');

    const session = connect2(t, url);
    const stream = post2(session, { ":path": "/echo", ...headers });
    stream.end('{"b":2}');
    assert.equal((await answer2(stream)).body, '{"got":{"b":2},"version":"2.0"}');
    assert.equal((await answer2(session.request({ ":path": "/nowhere" }))).status, 404);
  }

  it("listens on localhost with one port, serves both protocols, closes with idle clients", async (t) => {
    const { app, ports } = create(t);
    const url = await app.listen({ port: 0, host: "localhost" });
    assert.equal(ports.length, 1);
    await echoes(t, url);
    await app.close();
    await assert.rejects(ask1(url), { code: "ECONNREFUSED" });
  });

  it("closes after a drain in its preClose hook", async (t) => {
    const { app, ports } = create(t);
    app.addHook("preClose", async () => ports[0]?.drain(1000));
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    await echoes(t, url);
    await app.close();
    await assert.rejects(ask1(url), { code: "ECONNREFUSED" });
  });

  it("closes at once with forceCloseConnections, whatever is in flight", async (t) => {
    const { app } = create(t, { forceCloseConnections: true });
    const entered = deferred();
    app.get("/never", () => {
      entered.resolve();
      return new Promise(() => {});
    });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    const lost = assert.rejects(ask1(`${url}/never`), { code: "ECONNRESET" });
    await entered.promise;
    await app.close();
    await lost;
  });
});
