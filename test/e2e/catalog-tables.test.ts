import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { KINDS } from "../../src/domain/catalog/kinds/index.js";
import { assertFault } from "../support/agents.js";
import {
  type Answer,
  decode,
  encode,
  mintKey,
  rest,
  startServer,
  type TestServer,
} from "../support/server.js";

/** The tables of the interface document, sections 2.8, 4.7, 4.8 and 5: a row each. */

let server: TestServer;
let viewer: string;
before(async () => {
  server = await startServer();
  viewer = await mintKey(server, "viewer", { role: "viewer" });
});

const ask = (method: string, path: string, body?: unknown, key = server.adminKey): Promise<Answer> =>
  rest(server, key, method, `/v1/catalog/${path}`, body);
const write = (name: string, document: object, more: object = {}) =>
  ask("POST", name, { payload: encode(document), ...more });
async function written(name: string, document: object, more: object = {}): Promise<Answer["body"]> {
  const answer = await write(name, document, more);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

describe("2.8: a catalog resource", () => {
  it("is addressed by kind and name within the kind", async () => {
    await written("workspace/same", { displayName: "w" });
    await written("persona/same", { displayName: "p" });
    assert.equal(decode((await ask("GET", "workspace/same")).body.payload).displayName, "w");
  });

  it("has a kind, a payload of base64 JSON, an input format and a generation as a string", async () => {
    const { body } = await ask("GET", "workspace/same");
    assert.equal(body.kind, "workspace");
    assert.equal(decode(body.payload).displayName, "w");
    assert.equal(body.inputFormat, "INPUT_FORMAT_YAML");
    assert.equal(body.generation, "1");
    assert.equal((await ask("GET", "persona/same")).body.inputFormat, "INPUT_FORMAT_MARKDOWN");
  });

  it("has generation 0 where there is no stored version: builtins and change-request records", async () => {
    for (const name of ["workspace", "persona", "environment", "pool-config"]) {
      assert.equal((await ask("GET", `${name}/default`)).body.generation, "0", name);
    }
    const member = await mintKey(server, "member", { account: "m", role: "member" });
    const proposed = await ask("POST", "workspace/idea", { payload: encode({}) }, member);
    assert.equal(proposed.body.generation, "0");
    const { name } = decode(proposed.body.payload);
    assert.equal((await ask("GET", `change-request/${name}`)).body.generation, "0");
  });

  it("is of one of the thirteen kinds", () => {
    const kinds =
      "change-request environment integration model persona pool-config schedule secret service-profile share-link token vm-profile workspace";
    assert.equal([...KINDS.keys()].sort().join(" "), kinds);
  });
});

describe("4.7: writing", () => {
  it("without a mask replaces the whole document", async () => {
    await written("workspace/w1", { displayName: "a", description: "b" });
    const { payload } = await written("workspace/w1", { description: "c" });
    const { meta: _, ...document } = decode(payload);
    assert.deepEqual(document, { description: "c" });
  });

  it("with a mask applies the named fields, zero values included, and preserves the others", async () => {
    await written("workspace/w2", { displayName: "a", description: "b", default: true });
    const { payload } = await written(
      "workspace/w2",
      { description: "x" },
      { updateMask: "displayName,default" },
    );
    const { meta: _, ...document } = decode(payload);
    assert.deepEqual(document, { description: "b" });
  });

  it("records the justification in the audit log", async () => {
    await written("workspace/w3", {}, { justification: "because" });
    const { body } = await rest(server, server.adminKey, "GET", "/v1/audit?target=workspace/w3");
    assert.equal(body.records[0].justification, "because");
  });

  // ifGenerationMatch on a document at generation 1, the status, and the generation after
  const preconditions: [string, object, number, string][] = [
    ["unset is unconditional", {}, 200, "2"],
    ["that equals the generation commits", { ifGenerationMatch: "1" }, 200, "2"],
    ["as a number is taken", { ifGenerationMatch: 1 }, 200, "2"],
    ["that differs is FAILED_PRECONDITION, nothing written", { ifGenerationMatch: "2" }, 400, "1"],
    ["0 on what exists is FAILED_PRECONDITION, nothing written", { ifGenerationMatch: "0" }, 400, "1"],
    ["below 0 is INVALID_ARGUMENT", { ifGenerationMatch: "-1" }, 400, "1"],
  ];
  for (const [i, [sentence, more, status, generation]] of preconditions.entries()) {
    it(`ifGenerationMatch ${sentence}`, async () => {
      const name = `workspace/match-${i}`;
      await written(name, {});
      const answer = await write(name, { displayName: "new" }, more);
      assert.equal(answer.status, status, JSON.stringify(answer.body));
      if (status === 400) assert.equal(answer.body.code, sentence.includes("INVALID") ? 3 : 9);
      assert.equal((await ask("GET", name)).body.generation, generation);
    });
  }

  it("ifGenerationMatch 0 on what does not exist creates it, once", async () => {
    const all = await Promise.all(
      [1, 2, 3].map(() => write("workspace/atomic", {}, { ifGenerationMatch: "0" })),
    );
    assert.deepEqual(all.map(({ status }) => status).sort(), [200, 400, 400]);
  });

  it("answers with the document as persisted and a generation for the next conditional write", async () => {
    const first = await written("workspace/chain", { displayName: "1" });
    assert.ok(decode(first.payload).meta.createdAt);
    const second = await written(
      "workspace/chain",
      { displayName: "2" },
      { ifGenerationMatch: first.generation },
    );
    assert.equal(second.generation, "2");
  });

  it("shows a one-time secret in the answer that makes it, and nowhere else", async () => {
    await rest(server, server.adminKey, "POST", "/v1/agent/spawn", {
      agentId: { agent: ["a"] },
      description: "@ask ?",
    });
    const rows: [string, object, string][] = [
      ["token/once", { role: "viewer" }, "key"],
      ["share-link/once", { agentId: { agent: ["a"] }, access: "SHARE_ACCESS_STATUS" }, "url"],
      ["integration/once", { type: "INTEGRATION_TYPE_CODEHOST" }, "signingSecret"],
    ];
    for (const [name, document, field] of rows) {
      const secret = decode((await written(name, document)).payload)[field];
      assert.ok(secret, field);
      const [kind] = name.split("/");
      for (const path of [name, `${kind}`, `${name}/history`]) {
        const { body } = await ask("GET", path);
        const texts = JSON.stringify(body, (key, value) => (key === "payload" ? decode(value) : value));
        assert.ok(!texts.includes(secret) && !texts.includes(secret.split(/[.#]/).at(-1)), path);
      }
      assert.equal(
        decode((await written(name, { ...document, displayName: "again" })).payload)[field],
        undefined,
      );
    }
  });
});

describe("4.8: reading", () => {
  it("takes the tenant namespace as ref.tenant.provider and ref.tenant.org", async () => {
    const own = "workspace/same?ref.tenant.provider=PROVIDER_CODEHOST_APP&ref.tenant.org=local";
    assert.equal((await ask("GET", own)).status, 200);
    const other = "workspace/same?ref.tenant.provider=PROVIDER_CODEHOST_APP&ref.tenant.org=other";
    assert.equal((await ask("GET", other)).status, 403);
    assertFault(await ask("GET", "workspace/same?tenant=local"), 400, "INVALID_FIELD", /tenant/);
  });

  it("gives a generation that fits its payload, whatever is written meanwhile", async () => {
    await written("workspace/moving", { displayName: "1" });
    const writer = (async () => {
      for (let i = 2; i <= 30; i++) await written("workspace/moving", { displayName: String(i) });
    })();
    for (let i = 0; i < 30; i++) {
      const { body } = await ask("GET", "workspace/moving");
      assert.equal(decode(body.payload).displayName, body.generation);
    }
    await writer;
  });

  it("of what is not there is NOT_FOUND", async () =>
    assertFault(await ask("GET", "workspace/none"), 404, "RESOURCE_NOT_FOUND"));
});

describe("5: authentication", () => {
  const whoami = (authorization: string | undefined) =>
    fetch(`${server.url}/v1/whoami`, authorization === undefined ? {} : { headers: { authorization } });

  it("1, 2: every request carries a Bearer key of the form <key_prefix>_<key_id>.<secret>", async () => {
    assert.match(server.adminKey, /^rtn_[a-z2-7]{16}\.[A-Za-z0-9_-]{43}$/);
    assert.equal((await whoami(`Bearer ${server.adminKey}`)).status, 200);
  });

  it("3: tenant and account of an agent are the caller's when omitted", async () => {
    const made = await rest(server, server.adminKey, "POST", "/v1/agent/spawn", {
      agentId: { agent: ["mine"] },
      description: "@ask ?",
    });
    assert.deepEqual(made.body.agentId.tenant, { provider: "PROVIDER_CODEHOST_APP", org: "local" });
    assert.equal(made.body.agentId.account, "admin");
  });

  const bad = [
    ["a missing credential", undefined],
    ["an empty one", ""],
    ["another scheme", "Basic YTpi"],
    ["no key at all", "Bearer x"],
    ["an unknown key", `Bearer rtn_${"a".repeat(16)}.${"A".repeat(43)}`],
  ] as const;
  for (const [what, header] of bad) {
    it(`4: ${what} is UNAUTHENTICATED, 401, code 16`, async () => {
      const response = await whoami(header);
      assert.deepEqual([response.status, ((await response.json()) as { code: number }).code], [401, 16]);
    });
  }

  it("4: the right id with a wrong secret is UNAUTHENTICATED", async () => {
    const wrong = server.adminKey.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    assert.equal((await whoami(`Bearer ${wrong}`)).status, 401);
  });

  it("4: an authenticated caller who lacks permission gets PERMISSION_DENIED, 403, code 7", async () => {
    const answer = await ask("POST", "workspace/w9", { payload: encode({}) }, viewer);
    assert.deepEqual([answer.status, answer.body.code], [403, 7]);
  });
});

describe("change requests", () => {
  let alice: string;
  let proposal: () => Promise<string>;
  before(async () => {
    alice = await mintKey(server, "cr-alice", { account: "alice", role: "member" });
    let n = 0;
    proposal = async () => {
      n += 1;
      const made = await ask("POST", `workspace/cr-${n}`, { payload: encode({ displayName: "x" }) }, alice);
      return decode(made.body.payload).name;
    };
  });
  const decide = (name: string, verdict: string, key: string) =>
    rest(server, key, "POST", `/v1/change-requests/${name}/${verdict}`, { note: "n" });

  it("hold what was asked for, by whom, against which generation", async () => {
    const record = decode((await ask("GET", `change-request/${await proposal()}`)).body.payload);
    assert.equal(record.target.kind, "workspace");
    assert.deepEqual(decode(record.payload), { displayName: "x" });
    assert.deepEqual(
      [record.proposedBy, record.state],
      ["codehost_oauth/alice", "CHANGE_REQUEST_STATE_OPEN"],
    );
  });

  it("are decided once", async () => {
    const name = await proposal();
    assert.equal((await decide(name, "approve", server.adminKey)).status, 200);
    assertFault(await decide(name, "approve", server.adminKey), 400, "CHANGE_REQUEST_DECIDED");
    assertFault(await decide(name, "reject", server.adminKey), 400, "CHANGE_REQUEST_DECIDED");
  });

  it("are approved by two people at once exactly once", async () => {
    const name = await proposal();
    const both = await Promise.all([
      decide(name, "approve", server.adminKey),
      decide(name, "approve", server.adminKey),
    ]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400]);
  });

  it("are not approved by their proposer, even with the right to write, but may be withdrawn", async () => {
    const name = await proposal();
    const strong = await mintKey(server, "cr-strong", { account: "alice", role: "admin" });
    assert.equal((await decide(name, "approve", strong)).status, 403);
    assert.equal((await decide(name, "reject", alice)).status, 200);
  });

  it("are rejected only by who may write, when they are somebody else's", async () => {
    const name = await proposal();
    const bob = await mintKey(server, "cr-bob", { account: "bob", role: "member" });
    assert.equal((await decide(name, "reject", bob)).status, 403);
    assert.equal((await decide(name, "approve", bob)).status, 403);
    assert.equal((await decide(name, "reject", server.adminKey)).status, 200);
    assert.equal((await ask("GET", "workspace/cr-5")).status, 404, "nothing was written");
  });

  it("of documents that name what is not there are refused at once", async () => {
    const answer = await ask(
      "POST",
      "workspace/cr-x",
      { payload: encode({ environment: "nowhere" }) },
      alice,
    );
    assertFault(answer, 400, "REFERENCE_NOT_FOUND");
  });
});
