import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import type { DescMessage, DescMethod, JsonObject } from "@bufbuild/protobuf";
import { KINDS } from "../../src/domain/catalog/kinds/index.js";
import { createAgentCaller } from "../support/agents.js";
import { actionOf, everyMethod } from "../support/descriptors.js";
import { temporaryFolder } from "../support/folder.js";
import { decode, encode, rest, startServer, type TestServer } from "../support/server.js";

/** Strings of tenant B. What a request holds may be said back to who sent it, and nothing else ever. */
const B = {
  org: "canary-org",
  account: "canary-account",
  agent: "canary-agent",
  workspace: "canary-workspace",
  document: "canary-document",
  text: "canary-text",
  secret: "canary-secret",
  followUp: "canary-follow-up",
  task: "canary-task",
};
const TENANT = { provider: "PROVIDER_IDP_OIDC", org: B.org };

let server: TestServer;
let uid = "";
let changeRequest = "";
let bKey = "";

/** How a request of A can mean something of B. */
const VARIANTS: Record<string, { tenant?: object; agentId: () => JsonObject }> = {
  "by its tenant": {
    tenant: TENANT,
    agentId: () => ({ ...named, tenant: TENANT, uid }),
  },
  "by its uid": { agentId: () => ({ uid }) },
  "by names, as if in the own tenant": { agentId: () => named },
};
const named = {
  ownerProvider: "PROVIDER_CODEHOST_OAUTH",
  account: B.account,
  workspace: B.workspace,
  agent: [B.agent],
};

/** A request with everything in it that can name something of B. */
function requestOf(desc: DescMessage, variant: (typeof VARIANTS)[string], kind: string): JsonObject {
  const request: JsonObject = {};
  for (const field of desc.fields) {
    const name = field.jsonName;
    const type = field.message?.typeName;
    if (field.fieldKind === "list" || field.fieldKind === "map") continue;
    if (type === "retinue.v1.Tenant") Object.assign(request, variant.tenant && { [name]: variant.tenant });
    else if (type === "retinue.v1.AgentId") request[name] = variant.agentId();
    else if (type === "retinue.v1.ResourceRef")
      request[name] = {
        ...requestOf(field.message as DescMessage, variant, kind),
        kind,
        name: documentNameOf(desc),
      };
    else if (type === "google.protobuf.Timestamp" && name !== "deliverAt" && name !== "startAt")
      request[name] = new Date(Date.now() - 60_000).toISOString();
    else if (name === "name") request[name] = changeRequest;
    else if (name === "followUpId") request[name] = B.followUp;
    else if (name === "account") request[name] = variant.tenant ? B.account : "*";
    else if (name === "payload") request[name] = encode({});
    else if (name === "runId") request[name] = "1";
    else if (name === "description" || name === "justification" || name === "note") request[name] = "probe";
  }
  return request;
}

/** A list takes no name. */
const documentNameOf = (desc: DescMessage) => (desc.name === "ListResourcesRequest" ? "" : B.document);

/** One call in the Connect protocol, which knows every RPC; the answer as text, streams up to their end. */
async function call(method: DescMethod, request: JsonObject, key: string): Promise<string> {
  const streams = method.methodKind !== "unary";
  const message = Buffer.from(JSON.stringify(request));
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  const response = await fetch(`${server.url}/${method.parent.typeName}/${method.name}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": streams ? "application/connect+json" : "application/json",
    },
    body: streams ? Buffer.concat([frame, message]) : message,
    signal: AbortSignal.timeout(20_000),
  });
  return `${JSON.stringify([...response.headers])}\n${await response.text()}`;
}

before(async () => {
  const operatorKey = join(temporaryFolder(), "operator.key");
  server = await startServer({ operatorKey });
  const operator = readFileSync(operatorKey, "utf8").trim();
  const put = async (key: string, name: string, document: object) => {
    const body = { ref: { tenant: TENANT }, payload: encode(document), justification: "test" };
    const answer = await rest(server, key, "POST", `/v1/catalog/${name}`, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return decode(answer.body.payload);
  };
  bKey = (await put(operator, `token/${B.document}`, { account: B.account, role: "admin" })).key;
  await put(bKey, `workspace/${B.workspace}`, { description: B.text, default: true });
  for (const kind of ["workspace", "persona", "environment"]) {
    await put(bKey, `${kind}/${B.document}`, { displayName: B.text, description: B.text });
  }
  await put(bKey, `secret/${B.document}`, { value: B.secret, description: B.text });
  const agents = createAgentCaller(server, bKey);
  const tasks = [{ id: B.task, subject: B.text }];
  await agents.spawn(B.agent, `@say ${B.text}\n@ask ${B.text}?`, { tasks, labels: { x: B.text } });
  uid = (await agents.wait(B.agent)).status.uid;
  await agents.queue(B.agent, B.text, {
    followUpId: B.followUp,
    deliverAt: new Date(Date.now() + 1e8).toISOString(),
  });
  await put(bKey, `share-link/${B.document}`, {
    displayName: B.text,
    agentId: { agent: [B.agent] },
    access: "SHARE_ACCESS_STATUS",
  });
  const proposer = (await put(bKey, "token/proposer", { account: "proposer", role: "member" })).key;
  changeRequest = (await put(proposer, `workspace/${B.document}`, { description: B.text })).name;
  server.logged.length = 0;
});

/** What of B stands in a text that the request did not hold. */
function leaked(text: string, request: JsonObject): string[] {
  const sent = JSON.stringify(request);
  const all = [
    text,
    ...(text.match(/[A-Za-z0-9+/]{16,}={0,2}/g) ?? []).map((word) => Buffer.from(word, "base64").toString()),
  ].join("\n");
  return [...Object.values(B), uid, changeRequest].filter(
    (canary) => all.includes(canary) && !sent.includes(canary),
  );
}

/** Reads first: what A writes under B's names is A's own. */
const writes = ({ input }: DescMethod) =>
  Number(input.fields.some(({ name }) => name === "justification" || name === "note"));

describe("nothing of one tenant reaches another", () => {
  for (const method of everyMethod().sort((a, b) => writes(a) - writes(b))) {
    const withKind = method.input.fields.some(
      (field) => field.message?.typeName === "retinue.v1.ResourceRef",
    );
    for (const [how, variant] of Object.entries(VARIANTS)) {
      it(`${actionOf(method)}, ${how}`, async () => {
        for (const kind of withKind ? KINDS.keys() : [""]) {
          const request = requestOf(method.input, variant, kind);
          const answer = await call(method, request, server.adminKey);
          assert.deepEqual(leaked(answer, request), [], `${kind} ${answer}`);
          const refers = method.input.fields.some((field) =>
            ["Tenant", "AgentId", "ResourceRef"].includes(field.message?.name ?? ""),
          );
          if (variant.tenant && refers) assert.match(answer, /permission_denied/, kind);
        }
      });
    }
  }

  it("a probe without the guard would be told: B's own key is", async () => {
    const own = { agentId: VARIANTS["by its tenant"]?.agentId() as JsonObject };
    const status = everyMethod().find(({ name }) => name === "GetAgentStatus") as DescMethod;
    assert.ok(leaked(await call(status, own, bKey), own).includes(B.text));
    const list = everyMethod().find(({ name }) => name === "ListResources") as DescMethod;
    const kind = { ref: { kind: "workspace" } };
    assert.ok(leaked(await call(list, kind, bKey), kind).includes(B.text), "also in base64");
  });

  it("nor through the log or the metrics", async () => {
    const metrics = await fetch(`${server.url}/metrics`, {
      headers: { authorization: `Bearer ${server.adminKey}` },
    });
    assert.equal(metrics.status, 200);
    assert.deepEqual(leaked(await metrics.text(), {}), []);
    const log = server.logged.join("");
    for (const canary of [B.text, B.secret, B.task]) assert.ok(!log.includes(canary), canary);
  });

  it("and nothing of B has changed", async () => {
    const agents = createAgentCaller(server, bKey);
    const status = await agents.status(B.agent);
    assert.equal(status.phase, "PHASE_WAITING_FOR_INPUT");
    assert.equal(status.runCount, "1");
    assert.deepEqual(
      status.followUps.map((f: { followUpId: string }) => f.followUpId),
      [B.followUp],
    );
    for (const kind of ["workspace", "secret", "token", "share-link"]) {
      const { body } = await rest(server, bKey, "GET", `/v1/catalog/${kind}/${B.document}`);
      assert.equal(body.generation, "1", kind);
    }
    const audit = await rest(server, bKey, "GET", "/v1/audit?pageSize=200");
    assert.ok(audit.body.records.every((record: { actor: string }) => !record.actor.includes("admin")));
  });
});
