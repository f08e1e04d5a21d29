import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { assertFault } from "../support/agents.js";
import { type Answer, encode, rest, startServer, type TestServer } from "../support/server.js";

describe("references between documents", () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });

  const ask = (method: string, name: string, document?: object): Promise<Answer> =>
    rest(server, server.adminKey, method, `/v1/catalog/${name}`, document && { payload: encode(document) });
  async function put(name: string, document: object): Promise<void> {
    const answer = await ask("POST", name, document);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  }

  const spawn = { description: "Work." };
  // a document, what it names, and the field that does
  const rows: [string, object, string, string][] = [
    ["workspace/w1", { environment: "gone" }, "environment/gone", "payload.environment"],
    ["workspace/w1", { agent: "gone" }, "persona/gone", "payload.agent"],
    ["environment/e1", { vmProfile: "gone" }, "vm-profile/gone", "payload.vmProfile"],
    [
      "environment/e1",
      {
        variables: [
          { name: "A", value: "x" },
          { name: "B", secret: "gone" },
        ],
      },
      "secret/gone",
      "payload.variables[1].secret",
    ],
    [
      "token/t1",
      { role: "viewer", serviceProfile: "gone" },
      "service-profile/gone",
      "payload.serviceProfile",
    ],
    [
      "schedule/s1",
      { cron: "@daily", spawn: { ...spawn, workspace: "gone" } },
      "workspace/gone",
      "payload.spawn.workspace",
    ],
    [
      "schedule/s1",
      { cron: "@daily", spawn: { ...spawn, agent: "gone" } },
      "persona/gone",
      "payload.spawn.agent",
    ],
    [
      "schedule/s1",
      { cron: "@daily", spawn: { ...spawn, environment: "gone" } },
      "environment/gone",
      "payload.spawn.environment",
    ],
    [
      "schedule/s1",
      { cron: "@daily", spawn, serviceProfile: "gone" },
      "service-profile/gone",
      "payload.serviceProfile",
    ],
    [
      "integration/i1",
      { type: "INTEGRATION_TYPE_WEBHOOK", url: "https://example.com/", workspaces: ["default", "gone"] },
      "workspace/gone",
      "payload.workspaces[1]",
    ],
  ];

  for (const [name, document, missing, field] of rows) {
    it(`${name} that names the unknown ${missing} is refused, and told so`, async () => {
      const answer = await ask("POST", name, document);
      assertFault(answer, 400, "REFERENCE_NOT_FOUND");
      assert.equal(answer.body.code, 9);
      assert.ok(answer.body.message.startsWith(`${field}: there is no ${missing.replace("/", " ")}`));
      const failure = answer.body.details.find((d: { violations?: unknown }) => d.violations).violations[0];
      assert.equal(failure.subject, missing);
      assert.equal((await ask("GET", name)).status, 404);
    });
  }

  it("builtins are there to be named", () =>
    put("workspace/plain", { environment: "default", agent: "default" }));

  it("what is named cannot be deleted, and those who name it are listed", async () => {
    await put("environment/ci", {});
    await put("workspace/a", { environment: "ci" });
    await put("workspace/b", { environment: "ci" });
    const refused = await ask("DELETE", "environment/ci");
    assertFault(refused, 400, "REFERENCED", /named by workspace\/a, workspace\/b:/);
    await put("workspace/a", {});
    assertFault(await ask("DELETE", "environment/ci"), 400, "REFERENCED", /named by workspace\/b:/);
    assert.equal((await ask("DELETE", "workspace/b")).status, 200);
    assert.equal((await ask("DELETE", "environment/ci")).status, 200);
    assertFault(await ask("POST", "workspace/a", { environment: "ci" }), 400, "REFERENCE_NOT_FOUND");
  });

  it("what shows a builtin again can be deleted, named or not", async () => {
    await put("environment/default", { displayName: "Ours" });
    await put("workspace/c", { environment: "default" });
    assert.equal((await ask("DELETE", "environment/default")).status, 200);
  });

  it("a variable twice from one secret is one reference", async () => {
    await put("secret/db", { value: "x" });
    const variables = [
      { name: "A", secret: "db" },
      { name: "B", secret: "db" },
    ];
    await put("environment/twice", { variables });
    assertFault(await ask("DELETE", "secret/db"), 400, "REFERENCED", /environment\/twice/);
  });

  it("however writes and deletions meet, no document ever names one that is gone", async () => {
    for (let round = 0; round < 15; round++) {
      const calls = [];
      for (let i = 0; i < 4; i++) {
        calls.push(ask("POST", "environment/raced", { description: `${round} ${i}` }));
        calls.push(ask("POST", `workspace/racer-${i}`, { environment: "raced" }));
        calls.push(ask("DELETE", "environment/raced"));
        calls.push(ask("POST", `workspace/racer-${i}`, {}));
      }
      const codes = new Set((await Promise.all(calls)).map(({ status }) => status));
      for (const code of codes) assert.ok([200, 400, 404].includes(code), String(code));
      const gone = (await ask("GET", "environment/raced")).status === 404;
      const naming = [];
      for (let i = 0; i < 4; i++) {
        const { body } = await ask("GET", `workspace/racer-${i}`);
        if (body.payload && Buffer.from(body.payload, "base64").includes("raced")) naming.push(i);
      }
      assert.ok(!(gone && naming.length > 0), `round ${round}: racers ${naming} name what is gone`);
    }
  });
});
