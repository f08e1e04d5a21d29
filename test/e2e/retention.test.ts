import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import Database from "better-sqlite3";
import { assertFault, createAgentCaller, until } from "../support/agents.js";
import { temporaryFolder } from "../support/folder.js";
import { mintKey, rest, startServer, type TestServer } from "../support/server.js";

describe("what is over can go", () => {
  let server: TestServer;
  let operator: string;
  const uids: string[] = [];

  before(async () => {
    const operatorKey = join(temporaryFolder(), "operator.key");
    server = await startServer({ operatorKey });
    operator = readFileSync(operatorKey, "utf8").trim();
    const agents = createAgentCaller(server, server.adminKey);
    await agents.spawn("over", "@spawn kid | @complete done\n@await kid\n@complete done");
    await agents.spawn("alive", "@ask what?");
    await agents.wait("over");
    await agents.wait("alive");
    for (const path of ["over", "over/kid"]) uids.push((await agents.status(path)).uid);
  });

  const purge = (key: string, body: object) => rest(server, key, "POST", "/v1/purge", body);
  const now = () => new Date().toISOString();

  it("needs agents:kill and accounts:all, a time, and one that is past", async () => {
    const member = await mintKey(server, "member", { account: "m", role: "member" });
    const viewer = await mintKey(server, "viewer", { account: "v", role: "viewer" });
    assert.equal((await purge(member, { agentsBefore: now() })).status, 403);
    assert.equal((await purge(viewer, { agentsBefore: now() })).status, 403);
    assertFault(await purge(server.adminKey, {}), 400, "INVALID_FIELD", /agentsBefore/);
    assertFault(
      await purge(server.adminKey, { agentsBefore: "2999-01-01T00:00:00Z" }),
      400,
      "INVALID_FIELD",
      /future/,
    );
  });

  it("leaves what ended later", async () => {
    const { body } = await purge(server.adminKey, { agentsBefore: "2020-01-01T00:00:00Z" });
    assert.deepEqual(body, { agents: 0, auditRecords: 0 });
  });

  it("takes ended trees with rows and folders, and leaves live ones", async () => {
    for (const uid of uids) assert.ok(existsSync(join(server.dataDir, "agents", uid)), uid);
    const { body, status } = await purge(server.adminKey, { agentsBefore: now(), justification: "tidy" });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body, { agents: 2, auditRecords: 0 });
    const agents = createAgentCaller(server, server.adminKey);
    for (const path of ["over", "over/kid"]) {
      for (const operation of ["status", "timeline"])
        assertFault(await agents.ask(operation, path), 404, "AGENT_NOT_FOUND");
    }
    assert.equal((await agents.status("alive")).phase, "PHASE_WAITING_FOR_INPUT");
    for (const uid of uids) assert.ok(!existsSync(join(server.dataDir, "agents", uid)), uid);
    const db = new Database(join(server.dataDir, "retinue.db"), { readonly: true });
    for (const table of [
      "agent",
      "agent_texts",
      "agent_tasks",
      "follow_up",
      "event",
      "usage",
      "webhook_cursor",
      "push",
      "session",
      "purge",
    ]) {
      for (const uid of uids) {
        const { rows } = db.prepare(`SELECT count(*) AS rows FROM ${table} WHERE uid = ?`).get(uid) as {
          rows: number;
        };
        assert.equal(rows, 0, table);
      }
    }
    db.close();
    await agents.spawn("over", "@ask again?");
  });

  it("is recorded with its reason", async () => {
    const { body } = await rest(
      server,
      server.adminKey,
      "GET",
      "/v1/audit?action=RetentionService/Purge&outcome=AUDIT_OUTCOME_DONE",
    );
    assert.equal(body.records.length, 1);
    assert.equal(body.records[0].justification, "tidy");
  });

  it("takes audit records for platform operators only", async () => {
    assert.equal((await purge(server.adminKey, { auditBefore: now() })).status, 403);
    assertFault(await purge(operator, { auditBefore: now() }), 400, "JUSTIFICATION_REQUIRED");
    const before = (await rest(server, operator, "GET", "/v1/audit")).body.records.length;
    const { body } = await purge(operator, { auditBefore: now(), justification: "the law says so" });
    assert.ok(body.auditRecords >= before, JSON.stringify(body));
    const { records } = (await rest(server, operator, "GET", "/v1/audit")).body;
    assert.equal(records.length, 1);
    assert.equal(records[0].justification, "the law says so");
  });

  it("happens by itself after the time that is set", async () => {
    const agents = createAgentCaller(server, server.adminKey);
    await agents.spawn("old", "@complete done");
    await agents.wait("old");
    const db = new Database(join(server.dataDir, "retinue.db"));
    db.prepare("UPDATE agent SET ended_at_ms = ended_at_ms - 91 * 86400000 WHERE path = 'old'").run();
    db.close();
    const again = await server.restart();
    const ask = () => createAgentCaller(again, again.adminKey).ask("status", "old");
    await until("the old agent is gone", ask, ({ status }) => status === 404);
    assert.equal((await createAgentCaller(again, again.adminKey).ask("status", "over")).status, 200);
  });
});
