import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assertFault } from "../support/agents.js";
import { temporaryFolder } from "../support/folder.js";
import { configFrom } from "../support/process.js";
import { encode, rest, startServer, type TestServer, type TestServerOptions } from "../support/server.js";

const UNSANDBOXED = { isolation: "none", allowUnsandboxed: false } as const;
const ACME = { provider: "PROVIDER_IDP_OIDC", org: "acme" };

/** A server without bubblewrap, and the key of one who may act in every tenant. */
async function withOperator(options: TestServerOptions) {
  const operatorKey = join(temporaryFolder(), "operator.key");
  const server = await startServer({ isolation: "none", ...options, operatorKey });
  return { server, operator: readFileSync(operatorKey, "utf8").trim() };
}

function put(server: TestServer, key: string, tenant: object | undefined) {
  const body = { ref: { tenant }, payload: encode({}), justification: "a test" };
  return rest(server, key, "POST", "/v1/catalog/workspace/w", body);
}

function spawn(server: TestServer, key: string, tenant: object) {
  const agentId = { tenant, ownerProvider: "PROVIDER_IDP_OIDC", account: "ann", agent: ["a"] };
  const body = { agentId, description: "hi", justification: "a test" };
  return rest(server, key, "POST", "/v1/agent/spawn", body);
}

describe("a machine where bubblewrap does not work", () => {
  test("an address that others can reach is refused", async () => {
    const refused = startServer({ ...UNSANDBOXED, host: "0.0.0.0" });
    await assert.rejects(refused, /--host 0\.0\.0\.0 .*bubblewrap.*--allow-unsandboxed/);
  });

  test("and taken by those who allow it", async () => {
    const server = await startServer({ isolation: "none", allowUnsandboxed: true, host: "0.0.0.0" });
    assert.match(server.url, /0\.0\.0\.0/);
  });

  test("a second tenant gets neither documents nor agents; the first goes on", async () => {
    const { server, operator } = await withOperator(UNSANDBOXED);
    assertFault(await put(server, operator, ACME), 400, "UNSANDBOXED", /idp_oidc\/acme.*--allow-unsandboxed/);
    assertFault(await spawn(server, operator, ACME), 400, "UNSANDBOXED");
    assert.equal((await put(server, server.adminKey, undefined)).status, 200);
  });

  test("data of two tenants is not taken up, unless that is allowed", async () => {
    const { server, operator } = await withOperator({ allowUnsandboxed: true });
    assert.equal((await put(server, operator, ACME)).status, 200);
    await server.close();
    const again = startServer({ ...UNSANDBOXED, data: server.dataDir });
    await assert.rejects(again, /2 tenants \(codehost_app\/local, idp_oidc\/acme\).*--allow-unsandboxed/);
  });
});

test("--allow-unsandboxed is off unless it is said", () => {
  assert.equal(configFrom([]).allowUnsandboxed, false);
  assert.equal(configFrom(["--allow-unsandboxed"]).allowUnsandboxed, true);
  assert.equal(configFrom([], { RETINUE_ALLOW_UNSANDBOXED: "yes" }).allowUnsandboxed, true);
});
