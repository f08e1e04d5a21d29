import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { describe, it } from "node:test";
import type { FastifyServerOptions } from "fastify";
import { deferred, JSON_TYPE, openGateway, type Seen, send } from "./fixture.js";

/** A handler that waits for its signal, and promises of what happens to it. */
function waiter() {
  const started = deferred<Seen>();
  const aborted = deferred<AbortSignal>();
  const unary = async (seen: Seen) => {
    const { signal } = seen.incoming;
    started.resolve(seen);
    if (!signal.aborted) await once(signal, "abort");
    aborted.resolve(signal);
    return {};
  };
  return { unary, started: started.promise, aborted: aborted.promise };
}

describe("a client that leaves", () => {
  it("aborts the signal of its call over HTTP/1.1", async (t) => {
    const { unary, started, aborted } = waiter();
    const { port } = await openGateway(t, { unary });
    const request = http.request({ port, path: "/v1/agent/wait", method: "POST", headers: JSON_TYPE });
    request.on("error", () => {});
    request.end('{"followUpId":"f"}');
    const { incoming } = await started;
    assert.equal(incoming.signal.aborted, false);
    request.destroy();
    assert.equal((await aborted).aborted, true);
  });

  it("aborts the signal of its call over HTTP/2, and of no other on the connection", async (t) => {
    const first = waiter();
    const second = deferred<Seen>();
    const answered = deferred();
    const unary = async (seen: Seen) => {
      if (seen.request.followUpId === "f") return first.unary(seen);
      second.resolve(seen);
      assert.equal(seen.incoming.signal.aborted, false);
      await answered.promise;
      return {};
    };
    const { url } = await openGateway(t, { unary, app: { http2: true } as FastifyServerOptions });
    const session = http2.connect(url);
    const post = (body: string) => {
      const stream = session.request({ ":method": "POST", ":path": "/v1/agent/wait", ...JSON_TYPE });
      stream.end(body);
      return stream;
    };
    const leaving = post('{"followUpId":"f"}');
    const staying = post("{}");
    await first.started;
    const { incoming } = await second.promise;
    leaving.close(http2.constants.NGHTTP2_CANCEL);
    assert.equal((await first.aborted).aborted, true);
    assert.equal(incoming.signal.aborted, false);
    answered.resolve();
    const [headers] = (await once(staying, "response")) as [http2.IncomingHttpHeaders];
    assert.equal(headers[":status"], 200);
    session.destroy();
  });

  it("has an aborted signal also when it left before anybody asked", async (t) => {
    const left = deferred();
    const seen = deferred<Seen>();
    const signal = deferred<AbortSignal>();
    const { app, port } = await openGateway(t, {
      async unary(call) {
        seen.resolve(call);
        await left.promise;
        signal.resolve(call.incoming.signal);
        return {};
      },
    });
    const closed = new Promise((resolve) => {
      app.server.once("connection", (socket) => socket.once("close", resolve));
    });
    const request = http.get({ port, path: "/v1/whoami" });
    request.on("error", () => {});
    await seen.promise;
    request.destroy();
    await closed;
    left.resolve();
    assert.equal((await signal.promise).aborted, true);
  });

  it("after its answer aborts nothing", async (t) => {
    const seen = deferred<Seen>();
    const { app, port } = await openGateway(t, {
      unary(call) {
        assert.equal(call.incoming.signal.aborted, false);
        seen.resolve(call);
        return {};
      },
    });
    const closed = new Promise((resolve) => {
      app.server.once("connection", (socket) => socket.once("close", resolve));
    });
    assert.equal((await send(port, "GET /v1/whoami")).status, 200);
    await closed;
    assert.equal((await seen.promise).incoming.signal.aborted, false);
  });

  it("is given one signal, however often it is asked for", async (t) => {
    const { port, seen } = await openGateway(t);
    await send(port, "GET /v1/whoami");
    assert.equal(seen[0]?.incoming.signal, seen[0]?.incoming.signal);
  });
});
