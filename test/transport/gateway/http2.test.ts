import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { text } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import type { FastifyServerOptions } from "fastify";
import { type Answers, type Envelope, type Gateway, openGateway, reasonOf } from "./fixture.js";

async function openHttp2(t: TestContext, answers: Answers = {}) {
  const gateway = await openGateway(t, { ...answers, app: { http2: true } as FastifyServerOptions });
  const session = http2.connect(gateway.url);
  t.after(() => session.destroy());
  return { ...gateway, session };
}

async function send(
  { session }: Gateway & { session: http2.ClientHttp2Session },
  target: string,
  body: Buffer | string,
  headers: http2.OutgoingHttpHeaders = {},
) {
  const [method = "", path = ""] = target.split(" ");
  const stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream: false });
  stream.end(body);
  const [received] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
  return { status: received[":status"], headers: received, text: await text(stream) };
}

describe("over HTTP/2", () => {
  it("a call is answered like over HTTP/1.1", async (t) => {
    const gateway = await openHttp2(t, { unary: ({ request }) => ({ account: String(request.$typeName) }) });
    const { status, headers, text } = await send(gateway, "GET /v1/whoami", "");
    assert.equal(status, 200);
    assert.equal(headers["content-type"], "application/json");
    assert.equal((JSON.parse(text) as { account: string }).account, "retinue.v1.WhoamiRequest");
  });

  it("a body without content-type and content-length is not taken for an empty one", async (t) => {
    const gateway = await openHttp2(t);
    const { status, text } = await send(gateway, "POST /v1/agent/kill", '{"agentId":{"agent":["root"]}}');
    assert.equal(status, 400);
    assert.equal(reasonOf(JSON.parse(text) as Envelope), "UNSUPPORTED_MEDIA_TYPE");
    assert.equal(gateway.seen.length, 0);
  });

  it("no data at all is an empty object", async (t) => {
    const gateway = await openHttp2(t);
    assert.equal((await send(gateway, "POST /v1/agents", "")).status, 200);
    assert.equal((await send(gateway, "POST /v1/agents", "", { "content-type": "text/plain" })).status, 200);
    assert.equal(gateway.seen.length, 2);
  });

  it("a request that is too large is refused, and the connection lives on", async (t) => {
    const gateway = await openHttp2(t);
    const json = { "content-type": "application/json" };
    const { status, headers } = await send(gateway, "POST /v1/agents", Buffer.alloc(5 * 1024 * 1024), json);
    assert.equal(status, 429);
    assert.equal(headers.connection, undefined);
    assert.equal((await send(gateway, "POST /v1/agents", "{}", json)).status, 200);
  });

  it("a method that HTTP/1.1 cannot even send gets the envelope", async (t) => {
    const gateway = await openHttp2(t);
    const { status, text } = await send(gateway, "FROBNICATE /v1/whoami", "");
    assert.equal(status, 404);
    assert.equal((JSON.parse(text) as Envelope).code, 5);
  });
});
