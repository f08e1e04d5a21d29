import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { EventType } from "../../gen/retinue/v1/event_pb.js";
import { TimelineService, type WatchResponse } from "../../gen/retinue/v1/timeline_service_pb.js";
import { type AgentCaller, createAgentCaller, PATIENCE_MS, until } from "../support/agents.js";
import { toldByConnect } from "../support/clients.js";
import { mintKey, rest, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let agents: AgentCaller;
before(async () => {
  server = await startServer();
  agents = createAgentCaller(server, server.adminKey);
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of every shape
type Json = any;
interface SseEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Json;
}

const TRANSPORTS: readonly [string, (baseUrl: string) => Transport][] = [
  ["Connect", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
  ["gRPC", (baseUrl) => createGrpcTransport({ baseUrl })],
];

/** A watch over RPC. */
function watch(open: (baseUrl: string) => Transport, path: string, afterSeq?: number, key = server.adminKey) {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const request = {
    agentId: { agent: path.split("/") },
    ...(afterSeq === undefined ? {} : { afterSeq: BigInt(afterSeq) }),
  };
  const headers = { authorization: `Bearer ${key}` };
  return createClient(TimelineService, open(server.url)).watch(request, { headers, signal });
}

/** A watch over Server-Sent Events; ends when `signal` says so, or by itself. */
async function* sse(
  path: string,
  options: { lastEventId?: string; afterSeq?: number; signal?: AbortSignal; key?: string } = {},
): AsyncGenerator<SseEvent> {
  const response = await fetch(`${server.url}/v1/agent/watch`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${options.key ?? server.adminKey}`,
      "content-type": "application/json",
      ...(options.lastEventId === undefined ? {} : { "last-event-id": options.lastEventId }),
    },
    body: JSON.stringify({
      agentId: { agent: path.split("/") },
      ...(options.afterSeq === undefined ? {} : { afterSeq: options.afterSeq }),
    }),
    signal: options.signal ?? AbortSignal.timeout(PATIENCE_MS),
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  let text = "";
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field("data");
      if (data !== undefined)
        yield { id: field("id") ?? "", type: field("event") ?? "", data: JSON.parse(data) };
    }
  }
}

const seqsOf = (updates: readonly WatchResponse[]) =>
  updates.flatMap(({ update }) => (update.case === "event" ? [Number(update.value.seq)] : []));
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe("watching over RPC", () => {
  for (const [name, open] of TRANSPORTS) {
    const path = `rpc-${name.toLowerCase()}`;
    test(`${name}: a snapshot first, then every event once, until the terminal one ends the stream`, async () => {
      await agents.spawn(path, "@say one\n@sleep 300ms\n@say two\n@run true\n@ask what?");
      const seen: WatchResponse[] = [];
      for await (const update of watch(open, path)) {
        seen.push(update);
        const asks = update.update.case === "event" && update.update.value.type === EventType.INPUT_REQUESTED;
        if (asks) void agents.wait(path).then(() => agents.queue(path, "@complete"));
      }
      const [first] = seen;
      assert.equal(first?.update.case, "snapshot");
      const from = Number(first?.update.case === "snapshot" ? first.update.value.lastSeq : -1);
      assert.match(first?.cursor ?? "", /^[^:]+:\d+$/);
      const events = await agents.timeline(path);
      assert.deepEqual(seqsOf(seen), upTo(events.length, from + 1), "nothing lost, nothing twice");
      const live = seen.flatMap(({ update }) => (update.case === "liveText" ? [update.value.text] : []));
      assert.match(live.join(""), /one\n.*two\n/s);
    });

    test(`${name}: afterSeq 0 is from the start, without a snapshot, also after the end`, async () => {
      const seen = await collect(watch(open, path, 0));
      assert.ok(!seen.some(({ update }) => update.case === "snapshot"));
      assert.deepEqual(seqsOf(seen), upTo((await agents.timeline(path)).length));
      const rest = await collect(watch(open, path, 5));
      assert.equal(seqsOf(rest)[0], 6);
    });

    test(`${name}: without a cursor an agent that has ended is a snapshot and no more`, async () => {
      const seen = await collect(watch(open, path));
      assert.deepEqual(
        seen.map(({ update }) => update.case),
        ["snapshot"],
      );
    });
  }

  test("live text comes before the message that it is a piece of", async () => {
    await agents.spawn("pieces", "@say first\n@sleep 300ms\n@say second\n@complete");
    const order: string[] = [];
    for await (const { update } of watch(TRANSPORTS[0]?.[1] as never, "pieces", 0)) {
      if (update.case === "liveText") order.push("piece");
      if (update.case === "event" && update.value.type === EventType.MESSAGE) order.push("message");
    }
    assert.ok(order.includes("piece"), order.join());
    assert.equal(order.at(-1), "message", order.join());
  });

  test("a revoked key ends the stream", async () => {
    await agents.spawn("revoked", "@ask what?");
    const key = await mintKey(server, "watcher", { account: "admin", role: "member" });
    const seen: string[] = [];
    const ended = (async () => {
      for await (const { update } of watch(TRANSPORTS[1]?.[1] as never, "revoked", undefined, key)) {
        seen.push(update.case ?? "");
        if (seen.length === 1) {
          const gone = await rest(server, server.adminKey, "DELETE", "/v1/catalog/token/watcher");
          assert.equal(gone.status, 200);
        }
      }
    })();
    await assert.rejects(ended, (error) => toldByConnect(error).code === 16);
    assert.equal(seen[0], "snapshot");
  });
});

describe("watching over Server-Sent Events", () => {
  test("cut again and again and resumed by Last-Event-ID, every event comes once, in order", async () => {
    await agents.spawn("cut", "@ask what?");
    const messages = (async () => {
      for (let i = 0; i < 8; i++) {
        const { followUpId } = await agents.queue("cut", `@say message ${i}\n@run true`);
        await agents.wait("cut", { followUpId });
      }
      await agents.queue("cut", "@complete");
      await agents.wait("cut");
    })();
    const seqs: number[] = [];
    let lastEventId: string | undefined;
    for (let cut = 0, ended = false; !ended; cut++) {
      const controller = new AbortController();
      const late = setTimeout(() => controller.abort(), PATIENCE_MS);
      // The body's own cursor loses against the header.
      const from = lastEventId === undefined ? { afterSeq: 0 } : { afterSeq: 0, lastEventId };
      let taken = 0;
      try {
        for await (const { id, data } of sse("cut", { ...from, signal: controller.signal })) {
          if (data.event === undefined) continue;
          assert.equal(id, `${data.event.agentId.uid}:${data.event.seq}`);
          lastEventId = id;
          seqs.push(Number(data.event.seq));
          ended = data.event.payload.phase?.to === "PHASE_COMPLETED";
          taken += 1;
          if (taken > 1 + (cut % 7)) break;
        }
      } finally {
        clearTimeout(late);
        controller.abort();
      }
    }
    await messages;
    assert.deepEqual(seqs, upTo((await agents.timeline("cut")).length));
  });

  test("without a cursor the snapshot comes first, with its id; the stream closes after the terminal event", async () => {
    await agents.spawn("closes", "@ask what?");
    await agents.wait("closes");
    const seen: SseEvent[] = [];
    for await (const event of sse("closes")) {
      if (seen.length === 0) await agents.get("kill", "closes");
      seen.push(event);
    }
    assert.equal(seen[0]?.data.snapshot.phase, "PHASE_WAITING_FOR_INPUT");
    assert.equal(seen[0]?.id, `${seen[0]?.data.snapshot.uid}:${seen[0]?.data.snapshot.lastSeq}`);
    assert.equal(seen.at(-1)?.data.event.payload.phase.to, "PHASE_CANCELED");
  });

  test("the id of another incarnation restarts with a snapshot", async () => {
    await agents.spawn("reborn", "@complete");
    const old = (await agents.wait("reborn")).status.uid;
    await agents.spawn("reborn", "@complete");
    await agents.wait("reborn");
    const [first] = await collect(sse("reborn", { lastEventId: `${old}:3` }));
    assert.ok(first?.data.snapshot, JSON.stringify(first?.data));
  });

  test("a client that goes frees its stream", async () => {
    const few = await startServer({ maxOpenStreams: 2 });
    const caller = createAgentCaller(few, few.adminKey);
    await caller.spawn("left", "@ask what?");
    await caller.wait("left");
    const headers = { authorization: `Bearer ${few.adminKey}`, "content-type": "application/json" };
    const body = JSON.stringify({ agentId: { agent: ["left"] } });
    // More than fit at once: each can only be open because the one before it is closed.
    for (let i = 0; i < 6; i++) {
      await until(
        "there is room for a stream",
        async () => {
          const controller = new AbortController();
          const { signal } = controller;
          const response = await fetch(`${few.url}/v1/agent/watch`, {
            method: "POST",
            headers,
            body,
            signal,
          });
          if (response.status === 200) await response.body?.getReader().read();
          controller.abort();
          return response.status;
        },
        (status) => status === 200,
      );
    }
    await few.close(0);
  });
});
