import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createAgentCaller } from "../support/agents.js";
import { decode, encode, mintKey, rest, startServer, type TestServer } from "../support/server.js";

describe("share links", () => {
  let server: TestServer;
  let links: Record<"status" | "timeline" | "tree", string>;

  async function share(name: string, document: object, key = server.adminKey): Promise<string> {
    const answer = await rest(server, key, "POST", `/v1/catalog/share-link/${name}`, {
      payload: encode(document),
    });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const [page, secret] = decode(answer.body.payload).url.split("#");
    assert.equal(page, `${server.url}/ui/share`);
    return secret;
  }

  before(async () => {
    server = await startServer();
    const agents = createAgentCaller(server, server.adminKey);
    await agents.spawn("shared", "@spawn kid | @ask what?\n@ask colour?");
    await agents.spawn("other", "@ask nothing?");
    await agents.until("shared/kid", "asks", ({ phase }) => phase === "PHASE_WAITING_FOR_INPUT");
    await agents.wait("other");
    const agentId = { agent: ["shared"] };
    links = {
      status: await share("status", { agentId, access: "SHARE_ACCESS_STATUS" }),
      timeline: await share("timeline", { agentId, access: "SHARE_ACCESS_TIMELINE" }),
      tree: await share("tree", { agentId, access: "SHARE_ACCESS_TIMELINE", includeDescendants: true }),
    };
  });

  const own = {};
  const named = { agentId: { agent: ["shared"] } };
  const kid = { agentId: { agent: ["shared", "kid"] } };
  const other = { agentId: { agent: ["other"] } };
  const below = { parentId: { agent: ["shared"] } };

  // operation, request, and what the three links get
  const rows: [string, object, number, number, number][] = [
    ["agent/status", own, 200, 200, 200],
    ["agent/status", named, 200, 200, 200],
    ["agent/wait", { ...named, timeout: "0s" }, 200, 200, 200],
    ["agent/timeline", named, 403, 200, 200],
    ["agent/status", kid, 403, 403, 200],
    ["agent/timeline", kid, 403, 403, 200],
    ["agents", below, 403, 403, 200],
    ["agents", {}, 403, 403, 403],
    ["agents", { account: "*" }, 403, 403, 403],
    ["agent/status", other, 403, 403, 403],
    ["agent/status", { agentId: { agent: ["shared"], account: "bob" } }, 403, 403, 403],
    ["agent/status", { agentId: { agent: ["shared"], uid: "nobody" } }, 404, 404, 404],
    ["agent/queue", { ...named, description: "x" }, 403, 403, 403],
    ["agent/spawn", { agentId: { agent: ["x"] }, description: "x" }, 403, 403, 403],
    ["agent/kill", named, 403, 403, 403],
    ["agent/stop-turn", { ...named, runId: 1 }, 403, 403, 403],
    ["catalog/share-link/mine", { payload: encode({}) }, 403, 403, 403],
    ["catalog/workspace/mine", { payload: encode({}) }, 403, 403, 403],
  ];

  for (const [operation, request, ...statuses] of rows) {
    it(`${operation} ${JSON.stringify(request).slice(0, 60)}: ${statuses.join(", ")}`, async () => {
      const keys = [links.status, links.timeline, links.tree];
      const got = await Promise.all(
        keys.map(async (key) => (await rest(server, key, "POST", `/v1/${operation}`, request)).status),
      );
      assert.deepEqual(got, statuses);
    });
  }

  it("an agent of others is not found by its uid", async () => {
    const { uid } = await createAgentCaller(server, server.adminKey).status("other");
    const answer = await rest(server, links.tree, "POST", "/v1/agent/status", { agentId: { uid } });
    assert.equal(answer.status, 404);
    assert.ok(!JSON.stringify(answer.body).includes('"other"'));
  });

  it("whoami tells the page what it may show", async () => {
    const { body } = await rest(server, links.tree, "GET", "/v1/whoami");
    assert.deepEqual(body.scopes, ["agents:read"]);
    assert.deepEqual(body.share.agentId.agent, ["shared"]);
    assert.equal(body.share.access, "SHARE_ACCESS_TIMELINE");
    assert.equal(body.share.includeDescendants, true);
  });

  it("its maker needs agents:message on the agent, and nothing of the catalog", async () => {
    const bob = await mintKey(server, "bob", { account: "bob", scopes: ["agents:message"] });
    const agentId = { agent: ["shared"], account: "admin" };
    const ask = (key: string, method: string, name: string, body?: object) =>
      rest(server, key, method, `/v1/catalog/share-link/${name}`, body);
    const document = { payload: encode({ agentId, access: "SHARE_ACCESS_STATUS" }) };
    assert.equal((await ask(bob, "POST", "bobs", document)).status, 403);
    assert.equal((await ask(bob, "GET", "status")).status, 404, "not shown to others");
    assert.equal((await ask(bob, "DELETE", "status")).status, 404);
    assert.equal((await ask(bob, "POST", "status", document)).status, 403);
    const listed = await rest(server, bob, "GET", "/v1/catalog/share-link");
    assert.deepEqual(listed.body.entries, []);
    const small = await mintKey(server, "small", { scopes: ["agents:message"] });
    await share("small", { agentId: { agent: ["shared"] }, access: "SHARE_ACCESS_STATUS" }, small);
    assert.equal((await ask(small, "GET", "small")).status, 200);
  });

  /** The events of a watch, as text, until it ends. */
  async function watch(key: string): Promise<{ first: Promise<void>; whole: Promise<string> }> {
    const response = await fetch(`${server.url}/v1/agent/watch`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: "{}",
    });
    assert.equal(response.status, 200);
    let seen = () => {};
    const first = new Promise<void>((resolve) => {
      seen = resolve;
    });
    const whole = (async () => {
      let text = "";
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        text += Buffer.from(chunk).toString();
        seen();
      }
      return text;
    })();
    return { first, whole };
  }

  const link = (name: string, method: string, body?: object) =>
    rest(server, server.adminKey, method, `/v1/catalog/share-link/${name}`, body);

  for (const [how, end] of [
    ["revoking", () => link("brief", "POST", { payload: encode({ revoked: true }), updateMask: "revoked" })],
    ["deleting", () => link("brief", "DELETE")],
    [
      "narrowing",
      () =>
        link("brief", "POST", { payload: encode({ access: "SHARE_ACCESS_STATUS" }), updateMask: "access" }),
    ],
  ] as const) {
    it(`${how} a link ends its watches at once`, async () => {
      await link("brief", "DELETE");
      const key = await share("brief", { agentId: { agent: ["shared"] }, access: "SHARE_ACCESS_TIMELINE" });
      const { first, whole } = await watch(key);
      await first;
      assert.equal((await end()).status, 200);
      assert.match(await whole, /event: error\ndata: .*"code":(16|7)/);
      const after = await rest(server, key, "POST", "/v1/agent/timeline", {});
      assert.equal(after.status, how === "narrowing" ? 403 : 401);
    });
  }

  it("stays with the incarnation that it was made for", async () => {
    const agents = createAgentCaller(server, server.adminKey);
    await agents.spawn("twice", "@complete first");
    await agents.wait("twice");
    const key = await share("twice", { agentId: { agent: ["twice"] }, access: "SHARE_ACCESS_STATUS" });
    await agents.spawn("twice", "@complete second");
    await agents.wait("twice");
    const { body } = await rest(server, key, "POST", "/v1/agent/status", { agentId: { agent: ["twice"] } });
    assert.equal(body.result, "first");
  });
});
