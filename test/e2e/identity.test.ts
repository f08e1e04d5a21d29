import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { formatKey, keyFromRandom } from "../../src/domain/key.js";
import { type Clock, systemClock } from "../../src/engine/clock.js";
import { temporaryFolder } from "../support/folder.js";
import {
  type Answer,
  decode,
  encode,
  mintKey,
  rest,
  startServer,
  type TestServer,
} from "../support/server.js";

let nowMs = Date.UTC(2026, 0, 1);
const clock: Clock = { ...systemClock, nowMs: () => nowMs };

let server: TestServer;
before(async () => {
  server = await startServer({}, clock);
});

const whoami = (key?: string) => rest(server, key, "GET", "/v1/whoami");

function assertRefused(answer: Answer, status: number, code: number, reason: string, text?: RegExp): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.body.code, code);
  assert.equal(answer.body.details[0].reason, reason);
  if (text) assert.match(answer.body.message, text);
}

describe("the first key", () => {
  test("an empty store mints an admin key into a file that only its owner reads", async () => {
    assert.equal(statSync(server.adminKeyFile).mode & 0o777, 0o600);
    const { body } = await whoami(server.adminKey);
    assert.deepEqual(
      { tenant: body.tenant, ownerProvider: body.ownerProvider, account: body.account, role: body.role },
      {
        tenant: { provider: "PROVIDER_CODEHOST_APP", org: "local" },
        ownerProvider: "PROVIDER_CODEHOST_OAUTH",
        account: "admin",
        role: "admin",
      },
    );
    assert.ok(body.scopes.includes("keys:manage"));
    assert.ok(!body.scopes.includes("platform:operator"));
    assert.match(body.keyId, /^[a-z2-7]{16}$/);
    assert.match(body.server.version, /^\d+\.\d+\.\d+/);
  });

  test("a second start keeps the key", async () => {
    const key = server.adminKey;
    server = await server.restart();
    assert.equal(server.adminKey, key);
    assert.equal((await whoami(key)).status, 200);
  });

  test("--operator-key mints a platform-operator key once, and takes up a file that a crash left behind", async () => {
    const file = join(temporaryFolder(), "operator.key");
    const first = await startServer({ operatorKey: file });
    const key = readFileSync(file, "utf8").trim();
    assert.equal((await rest(first, key, "GET", "/v1/whoami")).body.role, "platform-operator");
    const second = await startServer({ operatorKey: file });
    assert.equal(readFileSync(file, "utf8").trim(), key);
    assert.equal((await rest(second, key, "GET", "/v1/whoami")).status, 200);
  });
});

describe("credentials", () => {
  const rows: [string, () => string | undefined][] = [
    ["no header", () => undefined],
    ["no key of ours", () => "hello"],
    ["an unknown key id", () => formatKey(keyFromRandom(new Uint8Array(42)))],
    [
      "a known id with another secret",
      () => `${server.adminKey.slice(0, -1)}${server.adminKey.endsWith("A") ? "B" : "A"}`,
    ],
  ];
  for (const [name, key] of rows) {
    test(`${name}: UNAUTHENTICATED, in the same words`, async () => {
      const answer = await whoami(key());
      assertRefused(answer, 401, 16, "INVALID_KEY", /^missing or invalid API key/);
    });
  }

  test("the scheme is Bearer", async () => {
    const response = await fetch(`${server.url}/v1/whoami`, {
      headers: { authorization: `Basic ${server.adminKey}` },
    });
    assert.equal(response.status, 401);
  });
});

describe("tokens", () => {
  test("a key minted through the catalog works; its secret is in exactly one answer", async () => {
    const made = await rest(server, server.adminKey, "POST", "/v1/catalog/token/bot", {
      payload: encode({ displayName: "Bot", role: "viewer", account: "bot" }),
    });
    const document = decode(made.body.payload);
    assert.match(document.key, /^rtn_[a-z2-7]{16}\.[A-Za-z0-9_-]{43}$/);
    const me = await whoami(document.key);
    assert.equal(me.body.account, "bot");
    assert.equal(me.body.keyName, "Bot");
    assert.deepEqual(me.body.scopes.sort(), ["accounts:all", "agents:read", "catalog:read"]);

    const secret = document.key.split(".")[1];
    // Its use is recorded beside the call; commits stand in order, so that a later one shows the earlier.
    await mintKey(server, "after-bot", { role: "viewer" });
    const read = await rest(server, server.adminKey, "GET", "/v1/catalog/token/bot");
    assert.equal(decode(read.body.payload).key, undefined);
    assert.equal(decode(read.body.payload).keyId, document.keyId);
    assert.ok(decode(read.body.payload).lastUsedAt);
    const history = await rest(server, server.adminKey, "GET", "/v1/catalog/token/bot/history");
    assert.ok(!JSON.stringify(history.body).includes(secret));
    assert.ok(!Buffer.from(history.body.versions[0].payload, "base64").toString().includes(secret));
    assertNowhereOnDisk(server.dataDir, secret);
    assert.ok(!server.logged.join("").includes(secret));
  });

  test("the admin's secret is on disk in admin.key and nowhere else, and in no log", async () => {
    const secret = server.adminKey.split(".")[1] as string;
    assertNowhereOnDisk(server.dataDir, secret, ["admin.key"]);
    assert.ok(!server.logged.join("").includes(secret));
  });

  for (const [name, end] of [
    [
      "revoked",
      () =>
        rest(server, server.adminKey, "POST", "/v1/catalog/token/dying", {
          payload: encode({ revoked: true }),
          updateMask: "revoked",
        }),
    ],
    ["deleted", () => rest(server, server.adminKey, "DELETE", "/v1/catalog/token/dying")],
  ] as [string, () => Promise<Answer>][]) {
    test(`a key that was ${name} stops working at once`, async () => {
      await rest(server, server.adminKey, "DELETE", "/v1/catalog/token/dying");
      const key = await mintKey(server, "dying", { role: "viewer" });
      assert.equal((await whoami(key)).status, 200);
      assert.equal((await end()).status, 200);
      assertRefused(await whoami(key), 401, 16, "INVALID_KEY");
    });
  }

  test("a key that has expired stops working", async () => {
    const expiresAt = new Date(nowMs + 1000).toISOString();
    const key = await mintKey(server, "short", { role: "viewer", expiresAt });
    assert.equal((await whoami(key)).body.expiresAt, expiresAt.replace(".000Z", "Z"));
    nowMs += 1000;
    assertRefused(await whoami(key), 401, 16, "INVALID_KEY");
  });

  test("the last use is recorded at most once a minute", async () => {
    const key = await mintKey(server, "used", { role: "viewer" });
    const lastUse = async () => {
      // Recorded beside the call; commits stand in order, so that a later one shows the earlier.
      await mintKey(server, `later-${nowMs}`, { role: "viewer" });
      const read = await rest(server, server.adminKey, "GET", "/v1/catalog/token/used");
      return decode(read.body.payload).lastUsedAt;
    };
    await whoami(key);
    const first = await lastUse();
    nowMs += 59_000;
    await whoami(key);
    assert.equal(await lastUse(), first);
    nowMs += 1000;
    await whoami(key);
    assert.notEqual(await lastUse(), first);
  });

  test("no key grants more than its maker has", async () => {
    const keeper = await mintKey(server, "keeper", { scopes: ["keys:manage", "catalog:read"] });
    const answer = await rest(server, keeper, "POST", "/v1/catalog/token/strong", {
      payload: encode({ role: "admin" }),
    });
    assertRefused(answer, 403, 7, "PERMISSION_DENIED", /agents:spawn/);
    const operator = { payload: encode({ role: "platform-operator" }) };
    const beyond = await rest(server, server.adminKey, "POST", "/v1/catalog/token/beyond", operator);
    assertRefused(beyond, 403, 7, "PERMISSION_DENIED", /platform:operator/);
    const weak = { payload: encode({ scopes: ["catalog:read"] }) };
    assert.equal((await rest(server, keeper, "POST", "/v1/catalog/token/weak", weak)).status, 200);
  });
});

describe("permission", () => {
  test("a key without the scope is refused, and the scope is named", async () => {
    const viewer = await mintKey(server, "viewer", { role: "viewer" });
    const spawn = await rest(server, viewer, "POST", "/v1/agent/spawn", {});
    assertRefused(spawn, 403, 7, "PERMISSION_DENIED", /agents:spawn/);
    assert.equal(spawn.body.details[0].metadata.scope, "agents:spawn");
    const write = await rest(server, viewer, "POST", "/v1/catalog/workspace/w", { payload: encode({}) });
    assertRefused(write, 403, 7, "PERMISSION_DENIED", /catalog:write/);
    const tokens = await rest(server, viewer, "GET", "/v1/catalog/token/bot");
    assertRefused(tokens, 403, 7, "PERMISSION_DENIED", /keys:manage/);
  });

  test("another tenant is refused before anything is looked up", async () => {
    const query = "ref.tenant.provider=PROVIDER_CODEHOST_APP&ref.tenant.org=other";
    const there = await rest(server, server.adminKey, "GET", `/v1/catalog/workspace/default?${query}`);
    const nowhere = await rest(
      server,
      server.adminKey,
      "GET",
      `/v1/catalog/workspace/no-such-thing?${query}`,
    );
    assertRefused(there, 403, 7, "PERMISSION_DENIED", /codehost_app\/other/);
    assert.deepEqual(nowhere.body, there.body);
  });

  test("the caller's own tenant can be named", async () => {
    const query = "ref.tenant.provider=PROVIDER_CODEHOST_APP&ref.tenant.org=local";
    assert.equal(
      (await rest(server, server.adminKey, "GET", `/v1/catalog/workspace/default?${query}`)).status,
      200,
    );
  });

  test("an operator of the platform crosses tenants, and says why when writing", async () => {
    const file = join(temporaryFolder(), "operator.key");
    const own = await startServer({ operatorKey: file });
    const key = readFileSync(file, "utf8").trim();
    const ref = { tenant: { provider: "PROVIDER_IDP_OIDC", org: "acme" } };
    const silent = await rest(own, key, "POST", "/v1/catalog/workspace/w", { ref, payload: encode({}) });
    assertRefused(silent, 400, 3, "JUSTIFICATION_REQUIRED", /justification/);
    const body = { ref, payload: encode({}), justification: "ticket 7" };
    assert.equal((await rest(own, key, "POST", "/v1/catalog/workspace/w", body)).status, 200);
    const query = "tenant.provider=PROVIDER_IDP_OIDC&tenant.org=acme";
    const audit = await rest(own, key, "GET", `/v1/audit?${query}`);
    assert.equal(audit.body.records[0].justification, "ticket 7");
    assert.equal(audit.body.records[0].tenant.org, "acme");
    const here = await rest(own, own.adminKey, "GET", "/v1/catalog/workspace/w");
    assert.equal(here.status, 404);
  });
});

describe("audit", () => {
  test("a change is recorded with who, what, why and the generations; filters and pages work", async () => {
    const path = "/v1/catalog/workspace/audited";
    await rest(server, server.adminKey, "POST", path, { payload: encode({}), justification: "why not" });
    await rest(server, server.adminKey, "POST", path, { payload: encode({ displayName: "x" }) });
    const all = await rest(server, server.adminKey, "GET", "/v1/audit?target=workspace/audited&pageSize=1");
    assert.equal(all.body.records.length, 1);
    const [newest] = all.body.records;
    assert.deepEqual(
      [newest.actor, newest.action, newest.outcome, newest.generationBefore, newest.generationAfter],
      ["codehost_oauth/admin", "CatalogService/PutResource", "AUDIT_OUTCOME_DONE", "1", "2"],
    );
    const token = all.body.nextPageToken;
    const older = await rest(
      server,
      server.adminKey,
      "GET",
      `/v1/audit?target=workspace/audited&pageToken=${token}`,
    );
    assert.equal(older.body.records[0].justification, "why not");
    assert.equal(older.body.nextPageToken, "");
  });

  test("a write that changes nothing leaves no record", async () => {
    const path = "/v1/catalog/workspace/quiet";
    await rest(server, server.adminKey, "POST", path, { payload: encode({}) });
    await rest(server, server.adminKey, "POST", path, { payload: encode({}) });
    const found = await rest(server, server.adminKey, "GET", "/v1/audit?target=workspace/quiet");
    assert.equal(found.body.records.length, 1);
  });

  test("refusals of a valid key are recorded, a few per minute", async () => {
    const viewer = await mintKey(server, "curious", { role: "viewer", account: "curious" });
    nowMs += 60_000;
    for (let i = 0; i < 30; i++) await rest(server, viewer, "POST", "/v1/agent/kill", {});
    const found = await rest(
      server,
      server.adminKey,
      "GET",
      "/v1/audit?actor=codehost_oauth/curious&pageSize=200",
    );
    assert.equal(found.body.records.length, 10);
    assert.equal(found.body.records[0].outcome, "AUDIT_OUTCOME_REFUSED");
    assert.equal(found.body.records[0].action, "AgentService/KillAgent");
  });
});

function assertNowhereOnDisk(folder: string, secret: string, except: string[] = []): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const file = join(folder, name);
    if (except.includes(name) || statSync(file).isDirectory()) continue;
    assert.ok(!readFileSync(file).includes(secret), `${name} holds the secret`);
  }
}
