import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type JsonValue, toJson } from "@bufbuild/protobuf";
import { type Gateway, JSON_TYPE, openGateway, shareGateway } from "./fixture.js";
import { probeRpc } from "./probe.js";

const rpcs = [
  probeRpc("Get", { pattern: { case: "get", value: "/v1/probe" } }),
  probeRpc("GetBig", { pattern: { case: "get", value: "/v1/probe/{big}/{color}" } }),
  probeRpc("PatchInner", { pattern: { case: "patch", value: "/v1/probe/{inner.text}" }, body: "inner" }),
];

/** The request that an RPC gets, as protobuf-es writes it: defaults left out. */
async function requestOf(
  gateway: Gateway,
  target: string,
  body?: string,
  headers: Record<string, string> = JSON_TYPE,
) {
  const [method = "", path = ""] = target.split(" ");
  const init = body === undefined ? { method } : { method, body, headers };
  const response = await fetch(gateway.url + path, init);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const { rpc, request } = gateway.seen[gateway.seen.length - 1] ?? assert.fail("no call came through");
  return { action: rpc.action, json: toJson(rpc.method.input, request) };
}

describe("a request becomes a message:", () => {
  const gateway = shareGateway({ rpcs });
  const rows: [
    sentence: string,
    target: string,
    body: string | undefined,
    action: string,
    json: JsonValue,
  ][] = [
    ["a GET without anything", "GET /v1/whoami", undefined, "IdentityService/Whoami", {}],
    [
      "the path fills nested fields",
      "GET /v1/catalog/persona/reviewer",
      undefined,
      "CatalogService/GetResource",
      { ref: { kind: "persona", name: "reviewer" } },
    ],
    [
      "the path is percent-decoded, slashes too, and only once",
      "GET /v1/catalog/a%2Fb/%C3%BC%20%2525+",
      undefined,
      "CatalogService/GetResource",
      { ref: { kind: "a/b", name: "ü %25+" } },
    ],
    [
      "a literal wins over a variable",
      "GET /v1/catalog/persona/reviewer/history?pageSize=7",
      undefined,
      "CatalogService/ListResourceVersions",
      { ref: { kind: "persona", name: "reviewer" }, pageSize: 7 },
    ],
    [
      "the query names nested fields by their JSON names, enums by name",
      "GET /v1/catalog/persona/x?ref.tenant.provider=PROVIDER_CODEHOST_APP&ref.tenant.org=a%26b+c",
      undefined,
      "CatalogService/GetResource",
      { ref: { tenant: { provider: "PROVIDER_CODEHOST_APP", org: "a&b c" }, kind: "persona", name: "x" } },
    ],
    [
      "a 64-bit precondition in the query, zero kept as given",
      "DELETE /v1/catalog/persona/x?ifGenerationMatch=0",
      undefined,
      "CatalogService/DeleteResource",
      { ref: { kind: "persona", name: "x" }, ifGenerationMatch: "0" },
    ],
    [
      "a DELETE may carry an empty object",
      "DELETE /v1/catalog/persona/x",
      " {} ",
      "CatalogService/DeleteResource",
      { ref: { kind: "persona", name: "x" } },
    ],
    [
      "proto names in the query",
      "GET /v1/audit?page_size=3&page_token=t",
      undefined,
      "AuditService/ListAuditRecords",
      { pageSize: 3, pageToken: "t" },
    ],
    ["an empty query", "GET /v1/audit?", undefined, "AuditService/ListAuditRecords", {}],
    [
      "empty pairs in a query",
      "GET /v1/audit?&actor=a=b&&",
      undefined,
      "AuditService/ListAuditRecords",
      { actor: "a=b" },
    ],
    [
      "a POST with a body",
      "POST /v1/agent/stop-turn",
      '{"runId":"7"}',
      "AgentService/StopTurn",
      { runId: "7" },
    ],
    [
      "a 64-bit integer as a number",
      "POST /v1/agent/stop-turn",
      '{"runId":7}',
      "AgentService/StopTurn",
      { runId: "7" },
    ],
    [
      "64-bit integers that only a string can hold",
      "POST /v1/agent/stop-turn",
      '{"runId":"9223372036854775807"}',
      "AgentService/StopTurn",
      { runId: "9223372036854775807" },
    ],
    ["a POST without a body is an empty object", "POST /v1/agents", undefined, "AgentService/ListAgents", {}],
    ["a POST with an empty body is an empty object", "POST /v1/agents", "", "AgentService/ListAgents", {}],
    [
      "path and body are put together",
      "POST /v1/catalog/persona/x",
      '{"ref":{"tenant":{"org":"o"}},"payload":"e30=","updateMask":"a.bC","ifGenerationMatch":"0"}',
      "CatalogService/PutResource",
      {
        ref: { tenant: { org: "o" }, kind: "persona", name: "x" },
        payload: "e30=",
        updateMask: "a.bC",
        ifGenerationMatch: "0",
      },
    ],
    [
      "the body may repeat what the path says",
      "POST /v1/change-requests/cr-1/approve",
      '{"name":"cr-1","note":"ok"}',
      "CatalogService/ApproveChangeRequest",
      { name: "cr-1", note: "ok" },
    ],
    [
      "absent and false are told apart where the proto says optional",
      "POST /v1/agent/queue",
      '{"fastMode":false}',
      "AgentService/QueueFollowUp",
      { fastMode: false },
    ],
    [
      "lists by repetition, booleans, times, durations, masks, doubles and bytes in a query",
      "GET /v1/probe?tags=a&tags=b,c&colors=COLOR_RED&colors=0&flag=true&maybe=0&ratio=1.5&data=AQ%3D%3D" +
        "&at=2026-11-15T09:30:00%2B01:00&lasting=1.5s&mask=a.bC,d&inner.count=-9223372036854775808&leftHand=l",
      undefined,
      "ProbeService/Get",
      {
        tags: ["a", "b,c"],
        colors: ["COLOR_RED", "COLOR_UNSPECIFIED"],
        flag: true,
        maybe: "0",
        ratio: 1.5,
        data: "AQ==",
        at: "2026-11-15T08:30:00Z",
        lasting: "1.500s",
        mask: "a.bC,d",
        inner: { count: "-9223372036854775808" },
        leftHand: "l",
      },
    ],
    [
      "integers and enums in the path",
      "GET /v1/probe/-5/COLOR_RED",
      undefined,
      "ProbeService/GetBig",
      { big: "-5", color: "COLOR_RED" },
    ],
    [
      "a body that is one field, with path and query around it",
      "PATCH /v1/probe/t?name=n&color=1",
      '{"count":"3"}',
      "ProbeService/PatchInner",
      { name: "n", color: "COLOR_RED", inner: { text: "t", count: "3" } },
    ],
  ];
  for (const [sentence, target, body, action, json] of rows) {
    it(sentence, async () => {
      assert.deepEqual(await requestOf(gateway(), target, body), { action, json });
    });
  }

  it("an empty body may have any content-type", async () => {
    const { json } = await requestOf(gateway(), "POST /v1/agents", "", { "content-type": "text/plain" });
    assert.deepEqual(json, {});
  });

  for (const type of [
    "application/json; charset=utf-8",
    'Application/JSON;charset="UTF-8"',
    "application/json;",
  ]) {
    it(`the content-type may be ${type}`, async () => {
      const { json } = await requestOf(gateway(), "POST /v1/agents", '{"account":"*"}', {
        "content-type": type,
      });
      assert.deepEqual(json, { account: "*" });
    });
  }

  it("the Authorization header goes along as it came", async (t) => {
    const { url, seen } = await openGateway(t);
    await fetch(`${url}/v1/whoami`, { headers: { authorization: "Bearer rtn_x.y" } });
    await fetch(`${url}/v1/whoami`);
    assert.deepEqual(
      seen.map(({ incoming }) => incoming.authorization),
      ["Bearer rtn_x.y", undefined],
    );
  });
});
