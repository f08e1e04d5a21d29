import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createAgentCaller } from "../support/agents.js";
import { encode, mintKey, rest, startServer, type TestServer } from "../support/server.js";

describe("service profiles own agents", () => {
  let server: TestServer;
  const keys: Record<string, string> = {};

  before(async () => {
    server = await startServer();
    const put = (callers: string[]) =>
      rest(server, server.adminKey, "POST", "/v1/catalog/service-profile/nightly", {
        payload: encode({ callers }),
      });
    assert.equal((await put(["codehost_oauth/alice", "codehost_oauth/admin"])).status, 200);
    keys.alice = await mintKey(server, "alice", { account: "alice", role: "member" });
    keys.bob = await mintKey(server, "bob", { account: "bob", role: "member" });
    keys.operator = await mintKey(server, "operator", { account: "olga", role: "operator" });
    keys.profile = await mintKey(server, "profile", { serviceProfile: "nightly", role: "member" });
  });

  const owned = { ownerProvider: "PROVIDER_SERVICE_PROFILE", account: "nightly" };
  const spawn = (who: string, name: string) =>
    rest(server, keys[who], "POST", "/v1/agent/spawn", {
      agentId: { ...owned, agent: [name] },
      description: "@ask what?",
    });
  const list = (who: string, account: string) => rest(server, keys[who], "POST", "/v1/agents", { account });

  it("which a listed caller spawns as it, and nobody else, not even with accounts:all", async () => {
    const made = await spawn("alice", "one");
    assert.equal(made.status, 200, JSON.stringify(made.body));
    assert.equal(made.body.agentId.ownerProvider, "PROVIDER_SERVICE_PROFILE");
    assert.equal(made.body.agentId.account, "nightly");
    for (const who of ["bob", "operator"]) assert.equal((await spawn(who, who)).status, 403, who);
  });

  it("whose own key is at home in its account", async () => {
    const me = (await rest(server, keys.profile, "GET", "/v1/whoami")).body;
    assert.deepEqual([me.ownerProvider, me.account], ["PROVIDER_SERVICE_PROFILE", "nightly"]);
    const agents = createAgentCaller(server, keys.profile as string);
    const made = await agents.spawn("two", "@ask what?");
    assert.deepEqual([made.agentId.ownerProvider, made.agentId.account], [me.ownerProvider, "nightly"]);
  });

  // who, filter, status, and whether the agents of the profile are in the list
  const lists = [
    ["alice", "service_profile/nightly", 200, true],
    ["alice", "", 200, false],
    ["alice", "nightly", 403, false],
    ["bob", "service_profile/nightly", 403, false],
    ["operator", "service_profile/nightly", 200, true],
    ["operator", "nightly", 200, false],
    ["operator", "*", 200, true],
    ["profile", "", 200, true],
    ["profile", "nightly", 200, true],
  ] as const;

  for (const [who, account, status, shown] of lists) {
    it(`${who} lists '${account}': ${status}${status === 200 ? `, ${shown ? "with" : "without"} its agents` : ""}`, async () => {
      const answer = await list(who, account);
      assert.equal(answer.status, status, JSON.stringify(answer.body));
      const names = (answer.body.entries ?? []).map(
        (e: { agentId: { agent: string[] } }) => e.agentId.agent[0],
      );
      assert.equal(names.includes("one"), shown);
    });
  }

  it("which a listed caller can message and read by uid, and others cannot", async () => {
    const id = { ...owned, agent: ["one"] };
    const status = await rest(server, keys.alice, "POST", "/v1/agent/status", { agentId: id });
    assert.equal(status.status, 200);
    const byUid = { agentId: { uid: status.body.uid } };
    assert.equal((await rest(server, keys.alice, "POST", "/v1/agent/status", byUid)).status, 200);
    assert.equal((await rest(server, keys.bob, "POST", "/v1/agent/status", byUid)).status, 404);
    const message = { agentId: id, description: "@ask more?" };
    assert.equal((await rest(server, keys.alice, "POST", "/v1/agent/queue", message)).status, 200);
    assert.equal((await rest(server, keys.bob, "POST", "/v1/agent/queue", message)).status, 403);
  });

  it("and whoever is taken off the list is off it at once; the profile's own key stays", async () => {
    const payload = encode({ callers: ["codehost_oauth/admin"] });
    await rest(server, server.adminKey, "POST", "/v1/catalog/service-profile/nightly", { payload });
    assert.equal((await spawn("alice", "three")).status, 403);
    assert.equal((await list("alice", "service_profile/nightly")).status, 403);
    assert.equal((await list("profile", "")).status, 200);
  });
});
