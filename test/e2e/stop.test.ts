import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { buffer } from "node:stream/consumers";
import { describe, test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.js";
import { Health, HealthCheckResponse_ServingStatus as Serving } from "../../gen/health/v1/health_pb.js";
import { AgentService } from "../../gen/retinue/v1/agent_service_pb.js";
import {
  PutResourceRequestSchema,
  PutResourceResponseSchema,
} from "../../gen/retinue/v1/catalog_service_pb.js";
import { TimelineService } from "../../gen/retinue/v1/timeline_service_pb.js";
import { cleanUp } from "../support/cleanup.js";
import { framed, requestOn, type Told, toldByConnect } from "../support/clients.js";
import { type ServeProgram, startServe } from "../support/process.js";
import { decode, encode, rest, startServer } from "../support/server.js";

/** How long a stop may take whatever clients do, and how long it takes when nobody holds it up, with much to spare. */
const STOP_WITHIN_MS = 15_000;
const AT_ONCE_MS = 8000;

/** What a health checker sees: each state as it comes, and at last the error that ends the watch. */
async function watchHealth(server: ServeProgram) {
  const transport = createGrpcTransport({ baseUrl: server.url });
  const states = createClient(Health, transport).watch({ service: "" })[Symbol.asyncIterator]();
  const next = async () => (await states.next()).value?.status as Serving | undefined;
  assert.equal(await next(), Serving.SERVING);
  return { next };
}

const portOf = (server: ServeProgram) => Number(new URL(server.url).port);

/** A bare connection on which these bytes have been sent; never closed from this side. */
async function holdSocket(server: ServeProgram, bytes = ""): Promise<net.Socket> {
  const socket = net.connect(portOf(server), "127.0.0.1");
  socket.on("error", () => {});
  cleanUp(() => socket.destroy());
  await once(socket, "connect");
  if (bytes !== "") await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  return socket;
}

function openSession(server: ServeProgram): http2.ClientHttp2Session {
  const session = http2.connect(server.url);
  session.on("error", () => {});
  cleanUp(() => session.destroy());
  return session;
}

const authorization = (server: ServeProgram) => ({ authorization: `Bearer ${server.adminKey}` });
const whoami = (server: ServeProgram) => ({ path: "/v1/whoami", headers: authorization(server) });

/** Half of a request; `finish` sends the rest and tells how it was answered. */
interface Half {
  readonly name: string;
  finish(): Promise<{ generation: string; displayName: string }>;
}

/** Begun, since the server has told it to continue. */
async function beginHttp1(server: ServeProgram, name: string): Promise<Half> {
  const body = JSON.stringify({ payload: encode({ displayName: name }) });
  const req = http.request(`${server.url}/v1/catalog/workspace/${name}`, {
    method: "POST",
    agent: false,
    headers: {
      ...authorization(server),
      "content-type": "application/json",
      "content-length": body.length,
      expect: "100-continue",
    },
  });
  // Told by `finish`; a request that is never finished is cut.
  req.on("error", () => {});
  req.flushHeaders();
  await once(req, "continue");
  req.write(body.slice(0, 10));
  return {
    name,
    async finish() {
      req.end(body.slice(10));
      const [res] = (await once(req, "response")) as [http.IncomingMessage];
      const answer = JSON.parse((await buffer(res)).toString());
      assert.equal(res.statusCode, 200, JSON.stringify(answer));
      assert.equal(res.headers.connection, "close", "and do not come back on this connection");
      return { generation: answer.generation, displayName: decode(answer.payload).displayName };
    },
  };
}

/** Begun, once a later request on the same connection has been answered. */
function beginHttp2(server: ServeProgram, session: http2.ClientHttp2Session, name: string): Half {
  const body = JSON.stringify({ payload: encode({ displayName: name }) });
  const path = `/v1/catalog/workspace/${name}`;
  const headers = {
    ":method": "POST",
    ":path": path,
    "content-type": "application/json",
    ...authorization(server),
  };
  const stream = session.request(headers);
  stream.write(body.slice(0, 10));
  return {
    name,
    async finish() {
      stream.end(body.slice(10));
      const answer = JSON.parse((await buffer(stream)).toString());
      return { generation: answer.generation, displayName: decode(answer.payload).displayName };
    },
  };
}

function beginGrpc(
  server: ServeProgram,
  session: http2.ClientHttp2Session,
  name: string,
  encoding?: string,
): Half {
  const payload = Buffer.from(JSON.stringify({ displayName: name }));
  const request = create(PutResourceRequestSchema, { ref: { kind: "workspace", name }, payload });
  const body = framed(toBinary(PutResourceRequestSchema, request));
  const stream = session.request({
    ":method": "POST",
    ":path": "/retinue.v1.CatalogService/PutResource",
    "content-type": "application/grpc",
    te: "trailers",
    ...(encoding === undefined ? {} : { "grpc-encoding": encoding }),
    ...authorization(server),
  });
  stream.write(body.subarray(0, 9));
  return {
    name,
    async finish() {
      stream.end(body.subarray(9));
      const trailers = once(stream, "trailers");
      const answer = fromBinary(PutResourceResponseSchema, (await buffer(stream)).subarray(5));
      assert.equal((await trailers)[0]["grpc-status"], "0");
      const { displayName } = JSON.parse(Buffer.from(answer.payload).toString());
      return { generation: String(answer.generation), displayName };
    },
  };
}

async function exitOf(server: ServeProgram, withinMs: number): Promise<number | null | string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`still running after ${withinMs} ms`), withinMs);
  });
  const code = await Promise.race([server.exited.then((exit) => exit.code ?? exit.signal), late]);
  clearTimeout(timer);
  return code;
}

describe("SIGTERM", { concurrency: 4 }, () => {
  test("health says NOT_SERVING, new connections are refused, calls under way finish, exit code 0", async () => {
    const server = await startServe();
    const health = await watchHealth(server);
    const session = openSession(server);
    const halves = [
      await beginHttp1(server, "http1"),
      beginHttp2(server, session, "http2"),
      beginGrpc(server, session, "grpc"),
      beginGrpc(server, session, "grpc-gzip", "gzip"),
    ];
    assert.equal((await requestOn(session, whoami(server))).status, 200);

    server.kill("SIGTERM");
    assert.equal(await health.next(), Serving.NOT_SERVING);
    const refused = net.connect(portOf(server), "127.0.0.1");
    const [error] = (await once(refused, "error")) as [NodeJS.ErrnoException];
    assert.equal(error.code, "ECONNREFUSED");
    const ended = await health.next().catch(toldByConnect);
    assert.ok(typeof ended === "object", "the watch ends with an error");
    assert.equal(ended.code, 14);
    assert.match(JSON.stringify(ended.details), /SERVER_STOPPING/);

    for (const { name, finish } of halves) {
      assert.deepEqual(await finish(), { generation: "1", displayName: name });
    }
    assert.equal(await exitOf(server, AT_ONCE_MS), 0);

    const again = await startServer({ data: server.dataDir });
    for (const { name } of halves) {
      const read = await rest(again, again.adminKey, "GET", `/v1/catalog/workspace/${name}`);
      assert.equal(decode(read.body.payload).displayName, name);
    }
  });

  test("waits and watches are told that the server stops, in every protocol, and end", async () => {
    const server = await startServe();
    const agentId = { workspace: "default", agent: ["later"] };
    const startAt = new Date(Date.now() + 86_400_000).toISOString();
    const spawned = await rest(server, server.adminKey, "POST", "/v1/agent/spawn", {
      agentId,
      description: "x",
      startAt,
    });
    assert.equal(spawned.status, 200, JSON.stringify(spawned.body));

    const sse = await fetch(`${server.url}/v1/agent/watch`, {
      method: "POST",
      headers: { ...authorization(server), "content-type": "application/json" },
      body: JSON.stringify({ agentId }),
    });
    const events = sse.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    let seen = Buffer.from((await events.read()).value ?? []).toString();
    assert.match(seen, /PHASE_PENDING/);
    const transport = createGrpcTransport({ baseUrl: server.url });
    const headers = authorization(server);
    const watch = createClient(TimelineService, transport)
      .watch({ agentId }, { headers })
      [Symbol.asyncIterator]();
    await watch.next();
    const waits = [
      rest(server, server.adminKey, "POST", "/v1/agent/wait", { agentId }).then(({ status, body }) => [
        status,
        body,
      ]),
      createClient(AgentService, transport).waitAgent({ agentId }, { headers }).catch(toldByConnect),
    ];
    const open = async () => {
      const response = await fetch(`${server.url}/metrics`, { headers });
      return Number(/^retinue_open_calls (\d+)$/m.exec(await response.text())?.[1]);
    };
    while ((await open()) < 4);

    server.kill("SIGTERM");
    const [overRest, overGrpc] = (await Promise.all(waits)) as [
      [number, { code: number; details: object[] }],
      Told,
    ];
    assert.deepEqual([overRest[0], overRest[1].code], [503, 14]);
    assert.match(JSON.stringify(overRest[1].details), /SERVER_STOPPING.*RetryInfo/);
    assert.equal(overGrpc.code, 14);
    const told = await watch.next().catch(toldByConnect);
    assert.equal((told as Told).code, 14);
    for (;;) {
      const { value, done } = await events.read();
      if (done) break;
      seen += Buffer.from(value).toString();
    }
    assert.match(seen, /event: error\ndata: \{"code":14,.*SERVER_STOPPING/);
    assert.equal(await exitOf(server, AT_ONCE_MS), 0);
  });

  test("under a flood of writes: what was acknowledged is there, the rest was told to try again or cut", async () => {
    const server = await startServe({ args: ["--requests-per-second", "0"] });
    const acknowledged: string[] = [];
    const write = async (i: number) => {
      const path = `/v1/catalog/workspace/w${i}`;
      const answer = await rest(server, server.adminKey, "POST", path, { payload: encode({}) }).catch(
        () => undefined,
      );
      if (answer === undefined) return;
      if (answer.status !== 200) return assert.equal(answer.status, 503, JSON.stringify(answer.body));
      acknowledged.push(`w${i}`);
      if (acknowledged.length === 100) server.kill("SIGTERM");
    };
    await Promise.all(Array.from({ length: 400 }, (_, i) => write(i)));
    assert.ok(acknowledged.length >= 100, `${acknowledged.length} writes`);
    assert.equal(await exitOf(server, STOP_WITHIN_MS), 0);
    const again = await startServer({ data: server.dataDir });
    for (const name of acknowledged) {
      assert.equal(
        (await rest(again, again.adminKey, "GET", `/v1/catalog/workspace/${name}`)).status,
        200,
        name,
      );
    }
  });

  test("idle connections of every kind do not hold it up", async () => {
    const server = await startServe();
    const agent = new http.Agent({ keepAlive: true });
    cleanUp(() => agent.destroy());
    for (let i = 0; i < 5; i++) {
      const req = http.get(`${server.url}/v1/whoami`, { agent, headers: authorization(server) });
      const [res] = (await once(req, "response")) as [http.IncomingMessage];
      await buffer(res);
    }
    const session = openSession(server);
    assert.equal((await requestOn(session, whoami(server))).status, 200);
    await holdSocket(server);
    await holdSocket(server, "PRI * HTTP/2.0\r\n");
    const health = await watchHealth(server);
    const told = assert.rejects(health.next().then(health.next), /the server is stopping/);
    server.kill("SIGTERM");
    assert.equal(await exitOf(server, AT_ONCE_MS), 0);
    await told;
  });

  test("clients that hold on are cut: exit code 0 within 15 s", { timeout: 60_000 }, async () => {
    const server = await startServe();
    const health = await watchHealth(server);
    await holdSocket(server, "GET /v1/whoami HTT");
    await beginHttp1(server, "http1");
    const session = openSession(server);
    beginHttp2(server, session, "http2");
    beginGrpc(server, session, "grpc");
    beginGrpc(server, session, "grpc-gzip", "gzip");
    assert.equal((await requestOn(session, whoami(server))).status, 200);
    // Is told, and never looks.
    await watchHealth(server);
    // Asks one question and keeps the stream open for more.
    const reflection = createClient(ServerReflection, createGrpcTransport({ baseUrl: server.url }));
    const answers = reflection.serverReflectionInfo(
      (async function* () {
        yield { messageRequest: { case: "listServices" as const, value: "" } };
        await new Promise(() => {});
      })(),
    );
    await answers[Symbol.asyncIterator]().next();
    server.kill("SIGTERM");
    assert.equal(await health.next(), Serving.NOT_SERVING);
    assert.equal(await exitOf(server, STOP_WITHIN_MS), 0);
    const again = await startServer({ data: server.dataDir });
    const read = await rest(again, again.adminKey, "GET", "/v1/catalog/workspace/http1");
    assert.equal(read.status, 404, "half a request is no request");
  });

  test("a second one ends it at once, with exit code 1", async () => {
    const server = await startServe();
    const health = await watchHealth(server);
    await beginHttp1(server, "http1");
    server.kill("SIGTERM");
    assert.equal(await health.next(), Serving.NOT_SERVING);
    assert.equal(server.child.exitCode, null, "it waits for the call");
    server.kill("SIGTERM");
    assert.equal(await exitOf(server, AT_ONCE_MS), 1);
    const again = await startServer({ data: server.dataDir });
    assert.equal((await rest(again, again.adminKey, "GET", "/v1/whoami")).status, 200);
  });

  test("is what Ctrl-C does, too, also if nobody reads the log any more", async () => {
    const server = await startServe();
    server.child.stderr?.destroy();
    server.kill("SIGINT");
    assert.equal(await exitOf(server, AT_ONCE_MS), 0);
  });
});
