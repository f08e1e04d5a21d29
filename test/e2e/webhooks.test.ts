import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { webhookHeaders } from "../../src/domain/automation/standard-webhook.js";
import { type AgentCaller, createAgentCaller, until } from "../support/agents.js";
import { type Receiver, startReceiver } from "../support/receiver.js";
import { decode, encode, mintKey, rest, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let agents: AgentCaller;
before(async () => {
  server = await startServer();
  agents = createAgentCaller(server, server.adminKey);
});

const path = (name: string) => `/v1/catalog/integration/${name}`;

/** Makes a webhook and returns its document as the write answers it. */
async function webhook(name: string, receiver: Receiver, more: object = {}) {
  const document = { type: "INTEGRATION_TYPE_WEBHOOK", url: receiver.url, ...more };
  const answer = await rest(server, server.adminKey, "POST", path(name), { payload: encode(document) });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return decode(answer.body.payload);
}

const read = async (name: string) =>
  decode((await rest(server, server.adminKey, "GET", path(name))).body.payload);

/** Sequence numbers that have come of an agent, as often as they came. */
const seqsOf = ({ received }: Receiver, agent: string) =>
  received
    .filter(({ body }) => body.data.agentId.agent[0] === agent)
    .map(({ body }) => Number(body.data.seq));

const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

/** The order in which events first came; what came twice is allowed, what came out of order is not. */
function firsts(seqs: readonly number[]): number[] {
  return [...new Set(seqs)];
}

describe("webhooks", { timeout: 120_000 }, () => {
  test("post every event of an agent, in order, signed with the secret that was shown once", async () => {
    const receiver = await startReceiver();
    const { signingSecret } = await webhook("all", receiver);
    assert.match(signingSecret, /^whsec_/);
    assert.equal((await read("all")).signingSecret, undefined);
    await agents.spawn("posted", "@say hello\n@complete done");
    const { status } = await agents.wait("posted");
    const last = Number(status.lastSeq);
    await until(
      "all are posted",
      async () => seqsOf(receiver, "posted"),
      (seqs) => seqs.length >= last,
    );
    assert.deepEqual(seqsOf(receiver, "posted"), upTo(last));
    const [first] = receiver.received;
    assert.ok(first);
    assert.equal(first.body.type, "agent_spawned");
    assert.equal(first.headers["webhook-id"], first.body.data.eventId);
    const atMs = Number(first.headers["webhook-timestamp"]) * 1000;
    const expected = webhookHeaders(signingSecret, { id: first.body.data.eventId, atMs, body: first.text });
    assert.equal(first.headers["webhook-signature"], expected["webhook-signature"]);
  });

  test("begin with what happens after they were made", async () => {
    await agents.spawn("earlier", "@complete done");
    await agents.wait("earlier");
    const receiver = await startReceiver();
    await webhook("late", receiver);
    await agents.spawn("later", "@complete done");
    const { status } = await agents.wait("later");
    const last = Number(status.lastSeq);
    await until(
      "later is posted",
      async () => seqsOf(receiver, "later"),
      (seqs) => seqs.length >= last,
    );
    assert.deepEqual(seqsOf(receiver, "earlier"), []);
  });

  test("post only the events and workspaces that they name", async () => {
    const receiver = await startReceiver();
    await webhook("some", receiver, { events: ["EVENT_TYPE_TURN_ENDED"] });
    await rest(server, server.adminKey, "POST", "/v1/catalog/workspace/other", { payload: encode({}) });
    const elsewhere = await startReceiver();
    await webhook("elsewhere", elsewhere, { workspaces: ["other"] });
    const agentId = { agent: ["filtered"], workspace: "default" };
    await agents.spawn("filtered", "@complete done", { agentId });
    await agents.wait("filtered");
    await until(
      "the end is posted",
      async () => receiver.received.length,
      (count) => count > 0,
    );
    assert.deepEqual(
      receiver.received.map(({ body }) => body.type),
      ["turn_ended"],
    );
    assert.deepEqual(elsewhere.received, []);
  });

  test("lose none of 500 events to a receiver that goes away and a server that restarts", async () => {
    const receiver = await startReceiver();
    await webhook("lossless", receiver);
    const names = ["crowd-a", "crowd-b", "crowd-c"];
    for (const name of names) await agents.spawn(name, "@ask what now?");
    for (const name of names) await agents.wait(name);
    /** Two events each time, and no work for the agent. */
    const traffic = async (name: string, times: number) => {
      for (let i = 0; i < times; i++) {
        const { followUpId } = await agents.queue(name, "later", { deliverAt: inAnHour() });
        await agents.get("queue/remove", name, { followUpId });
      }
    };
    await Promise.all(names.map((name) => traffic(name, 20)));
    await until(
      "some have come",
      async () => receiver.received.length,
      (count) => count > 60,
    );
    await receiver.down();
    await Promise.all(names.map((name) => traffic(name, 65)));
    const lasts = await Promise.all(names.map(async (name) => Number((await agents.status(name)).lastSeq)));
    assert.ok(lasts.reduce((sum, last) => sum + last) >= 500, String(lasts));
    server = await server.restart();
    agents = createAgentCaller(server, server.adminKey);
    await receiver.up();
    await until(
      "all have come",
      async () => names.map((name) => firsts(seqsOf(receiver, name)).length),
      (counts) => counts.every((count, i) => count >= (lasts[i] as number)),
    );
    names.forEach((name, i) => {
      assert.deepEqual(firsts(seqsOf(receiver, name)), upTo(lasts[i] as number));
    });
  });

  test("are given up at 410, with the reason in the document, and taken up again", async () => {
    const receiver = await startReceiver();
    await webhook("gone", receiver);
    receiver.answer = 410;
    await agents.spawn("unheard", "@complete done");
    const { status } = await agents.wait("unheard");
    const given = await until(
      "it is given up",
      () => read("gone"),
      ({ enabled }) => enabled === false,
    );
    assert.match(given.disabledReason, /answered 410/);
    assert.equal(given.meta.updatedBy, "system");
    receiver.answer = 204;
    const { disabledReason } = await webhook("gone", receiver, { enabled: true });
    assert.equal(disabledReason, undefined);
    const last = Number(status.lastSeq);
    await until(
      "all are posted",
      async () => seqsOf(receiver, "unheard"),
      (seqs) => seqs.length >= last,
    );
    assert.deepEqual(seqsOf(receiver, "unheard"), upTo(last));
  });

  test("are replayed from a place in the log", async () => {
    const receiver = await startReceiver();
    await webhook("again", receiver);
    const { agentId } = await agents.spawn("replayed", "@complete done");
    const { status } = await agents.wait("replayed");
    const last = Number(status.lastSeq);
    const replay = (name: string, more: object) =>
      rest(server, server.adminKey, "POST", `/v1/webhooks/${name}/replay`, { agentId, ...more });
    await until(
      "all are posted",
      async () => seqsOf(receiver, "replayed"),
      (seqs) => seqs.length >= last,
    );
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    assert.deepEqual((await replay("again", { afterSeq: 2 })).body, { lastSeq: String(last) });
    await until(
      "they come again",
      async () => seqsOf(receiver, "replayed").length,
      (n) => n >= 2 * last - 2,
    );
    assert.deepEqual(seqsOf(receiver, "replayed"), [...upTo(last), ...upTo(last).slice(2)]);
    assert.deepEqual(
      receiver.received.slice(last).map(({ headers }) => headers["webhook-id"]),
      ids.slice(2),
    );
    assert.equal((await replay("nobody", {})).status, 404);
    assert.equal((await replay("again", { afterSeq: -1 })).body.code, 3);
    await webhook("again", receiver, { enabled: false });
    assert.equal((await replay("again", {})).body.details[0].reason, "WEBHOOK_NOT_ENABLED");
    const viewer = await mintKey(server, "webhook-viewer", { role: "viewer" });
    const refused = await rest(server, viewer, "POST", "/v1/webhooks/again/replay", { agentId });
    assert.equal(refused.status, 403);
  });
});
