import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { getOption } from "@bufbuild/protobuf";
import { access, CatalogAction } from "../../gen/retinue/v1/access_pb.js";
import { assertFault, createAgentCaller } from "../support/agents.js";
import { actionOf, everyMethod } from "../support/descriptors.js";
import { temporaryFolder } from "../support/folder.js";
import { rest, startServer, type TestServer } from "../support/server.js";

const READS = ["agents:read", "audit:read", "catalog:read"];

describe("operators of the platform", () => {
  for (const method of everyMethod()) {
    const { rule } = getOption(method, access);
    const reads =
      (rule.case === "scope" && READS.includes(rule.value)) ||
      (rule.case === "catalogAction" && rule.value === CatalogAction.READ);
    // The key of an agent's process is no operator's.
    if (reads || rule.case === "anyKey" || rule.case === "turnKey") continue;
    it(`can say why they call ${actionOf(method)}`, () => {
      const why = method.input.fields.filter(({ name }) => name === "justification" || name === "note");
      assert.equal(why.length, 1);
    });
  }

  let server: TestServer;
  let operator: string;
  before(async () => {
    const operatorKey = join(temporaryFolder(), "operator.key");
    server = await startServer({ operatorKey });
    operator = readFileSync(operatorKey, "utf8").trim();
    const agents = createAgentCaller(server, server.adminKey);
    await agents.spawn("a", "@ask what?", { tasks: [{ id: "t", subject: "x" }] });
    await agents.wait("a");
  });

  const agentId = {
    tenant: { provider: "PROVIDER_CODEHOST_APP", org: "local" },
    account: "admin",
    agent: ["a"],
  };
  const task = { id: "t", subject: "y" };
  const writes: [string, object][] = [
    ["agent/spawn", { agentId: { ...agentId, agent: ["b"] }, description: "@ask what?" }],
    [
      "agent/queue",
      { agentId, description: "@ask more?", followUpId: "f", deliverAt: new Date(Date.now() + 1e8) },
    ],
    ["agent/queue/remove", { agentId, followUpId: "f" }],
    ["agent/clear-follow-ups", { agentId }],
    ["agent/tasks/update", { agentId, task, updateMask: "subject" }],
    ["agent/update", { agentId, labels: { labels: { x: "y" } } }],
    ["agent/kill", { agentId }],
  ];

  for (const [operation, request] of writes) {
    it(`${operation} without a reason is refused, with one it is done`, async () => {
      const ask = (more: object) =>
        rest(server, operator, "POST", `/v1/${operation}`, { ...request, ...more });
      assertFault(await ask({}), 400, "JUSTIFICATION_REQUIRED", /justification/);
      assertFault(await ask({ justification: " " }), 400, "JUSTIFICATION_REQUIRED");
      const done = await ask({ justification: `why ${operation}` });
      assert.equal(done.status, 200, JSON.stringify(done.body));
    });
  }

  it("act in every tenant, and are recorded there", async () => {
    const tenant = { provider: "PROVIDER_IDP_OIDC", org: "acme" };
    const ask = (path: string, body: object) => rest(server, operator, "POST", path, body);
    const elsewhere = { tenant, ownerProvider: "PROVIDER_IDP_OIDC", account: "carol", agent: ["c"] };
    const made = await ask("/v1/agent/spawn", {
      agentId: elsewhere,
      description: "@ask what?",
      justification: "ticket 8",
    });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    assert.deepEqual(made.body.agentId.tenant, tenant);
    const { body } = await rest(
      server,
      operator,
      "GET",
      "/v1/audit?tenant.provider=PROVIDER_IDP_OIDC&tenant.org=acme",
    );
    assert.equal(body.records[0].justification, "ticket 8");
    const own = await rest(server, server.adminKey, "POST", "/v1/agent/status", { agentId: elsewhere });
    assert.equal(own.status, 403);
  });

  it("read without one", async () => {
    assert.equal((await rest(server, operator, "POST", "/v1/agent/status", { agentId })).status, 200);
  });

  it("and their reasons are in the audit of the tenant", async () => {
    const { body } = await rest(server, server.adminKey, "GET", "/v1/audit?actor=codehost_oauth/operator");
    const reasons = body.records.map((record: { justification: string }) => record.justification);
    for (const operation of ["agent/spawn", "agent/queue", "agent/kill"]) {
      assert.ok(reasons.includes(`why ${operation}`), operation);
    }
  });
});
