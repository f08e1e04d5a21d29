import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openGateway } from "./fixture.js";

describe("a response", () => {
  const rows: [sentence: string, target: string, answer: Record<string, unknown>, text: string][] = [
    ["writes false out", "POST /v1/agent/queue/remove", {}, '{"removed":false}'],
    ["writes zero out", "POST /v1/agent/clear-follow-ups", {}, '{"cleared":0}'],
    ["writes empty lists and strings out", "POST /v1/agents", {}, '{"entries":[],"nextPageToken":""}'],
    ["of an empty message is an empty object", "POST /v1/agent/kill", {}, "{}"],
    [
      "writes 64-bit integers as strings, enums by name, bytes as base64",
      "GET /v1/catalog/persona/x",
      { kind: "persona", payload: Uint8Array.of(0xfb, 0xff), inputFormat: 2, generation: 9007199254740993n },
      '{"kind":"persona","payload":"+/8=","inputFormat":"INPUT_FORMAT_MARKDOWN","generation":"9007199254740993","name":""}',
    ],
    [
      "writes zeros of 64 bits out, and leaves out messages that are not set",
      "POST /v1/agent/spawn",
      { phase: 1 },
      '{"phase":"PHASE_PENDING","runCount":"0","created":false,"dashboardUrl":""}',
    ],
    [
      "is the field that the rule names",
      "POST /v1/agent/status",
      { status: { uid: "u1", runCount: 3n } },
      '"uid":"u1","phase":"PHASE_UNSPECIFIED","pendingReason":"","runCount":"3"',
    ],
    ["is an empty object if that field is not set", "POST /v1/agent/status", {}, "{}"],
  ];
  for (const [sentence, target, answer, text] of rows) {
    it(sentence, async (t) => {
      const { url } = await openGateway(t, { unary: () => answer });
      const [method = "", path] = target.split(" ");
      const response = await fetch(url + path, { method });
      const body = await response.text();
      assert.equal(response.status, 200, body);
      assert.equal(response.headers.get("content-type"), "application/json");
      assert.equal(response.headers.get("content-length"), String(Buffer.byteLength(body)));
      if (text.startsWith("{")) assert.equal(body, text);
      else assert.ok(body.startsWith(`{${text}`), body);
    });
  }

  it("to HEAD has the headers of GET and no body", async (t) => {
    const { url, seen } = await openGateway(t, { unary: () => ({ account: "ü" }) });
    const full = await (await fetch(`${url}/v1/whoami`)).arrayBuffer();
    const response = await fetch(`${url}/v1/whoami`, { method: "HEAD" });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.equal(response.headers.get("content-length"), String(full.byteLength));
    assert.equal(await response.text(), "");
    assert.equal(seen.length, 2);
  });
});
