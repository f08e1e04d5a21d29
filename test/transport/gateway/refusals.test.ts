import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Fault, internal, unauthenticated } from "../../../src/domain/fault.js";
import { type Envelope, fieldsOf, openGateway, reasonOf, send, shareGateway } from "./fixture.js";
import { probeRpc } from "./probe.js";

const MIB = 1024 * 1024;
const PUT = "POST /v1/catalog/persona/x";

const rpcs = [
  probeRpc("Get", { pattern: { case: "get", value: "/v1/probe" } }),
  probeRpc("GetBig", { pattern: { case: "get", value: "/v1/probe/{big}/{color}" } }),
  probeRpc("PatchInner", { pattern: { case: "patch", value: "/v1/probe/{name}" }, body: "inner" }),
];

/** An object nested so many levels deep. */
function deep(levels: number): string {
  return `${'{"x":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;
}

interface Row {
  readonly sentence: string;
  readonly target: string;
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
  readonly message: string | RegExp;
  /** Default: the field before the colon of a message that is text. */
  readonly fields?: readonly string[];
  /** Default: INVALID_FIELD where fields are named, else MALFORMED_REQUEST. */
  readonly reason?: string;
}

const ROWS: readonly Row[] = [
  {
    sentence: "an unknown field of the body",
    target: PUT,
    body: '{"ifGenerationMach":"3"}',
    message:
      "ifGenerationMach: unknown field; known fields: ifGenerationMatch, justification, payload, ref, updateMask",
  },
  {
    sentence: "an unknown field deep in the body",
    target: "POST /v1/agent/kill",
    body: '{"agentId":{"tenant":{"orgg":""}}}',
    message: "agentId.tenant.orgg: unknown field; known fields: org, provider",
  },
  {
    sentence: "a field of a request that has none",
    target: "GET /v1/whoami?verbose=1",
    message: "verbose: unknown query parameter; this method takes none",
  },
  {
    sentence: "an unknown enum name",
    target: "POST /v1/agent/stop-turn",
    body: '{"mode":"KILL"}',
    message:
      'mode: unknown value "KILL"; allowed: STOP_TURN_MODE_UNSPECIFIED, STOP_TURN_MODE_INTERRUPT, STOP_TURN_MODE_KILL',
  },
  {
    sentence: "a 64-bit integer that has lost digits",
    target: "POST /v1/agent/stop-turn",
    body: '{"runId":9007199254740993}',
    message: "runId: a number beyond 2^53 loses digits in JSON: send it as a string",
  },
  {
    sentence: "a 64-bit integer out of range",
    target: "POST /v1/agent/stop-turn",
    body: '{"runId":"9223372036854775808"}',
    fields: ["runId"],
    message: /^runId: "9223372036854775808" is out of range/,
  },
  {
    sentence: "an unknown query parameter",
    target: "DELETE /v1/catalog/persona/x?ifGenerationMach=3",
    message:
      "ifGenerationMach: unknown query parameter; known parameters: ifGenerationMatch, justification, " +
      "ref.tenant.org, ref.tenant.provider",
  },
  {
    sentence: "an unknown query parameter with an odd name",
    target: "GET /v1/audit?%3Cb%3E=1",
    fields: ['"<b>"'],
    message: /^"<b>": unknown query parameter/,
  },
  {
    sentence: "a message as query parameter",
    target: "GET /v1/catalog/persona/x?ref.tenant=1",
    fields: ["ref.tenant"],
    message: /^ref\.tenant: unknown query parameter/,
  },
  {
    sentence: "an unknown enum name in the query",
    target: "GET /v1/catalog/persona/x?ref.tenant.provider=CODEHOST_APP",
    fields: ["ref.tenant.provider"],
    message: /^ref\.tenant\.provider: unknown value "CODEHOST_APP"; allowed: PROVIDER_UNSPECIFIED, /,
  },
  {
    sentence: "a single query parameter given twice",
    target: "GET /v1/audit?pageSize=1&page_size=2",
    message: "page_size: given more than once",
  },
  {
    sentence: "text for an integer in the query",
    target: "GET /v1/audit?pageSize=many",
    message: 'pageSize: must be a 32-bit integer, not "many"',
  },
  {
    sentence: "text for a boolean in the query",
    target: "GET /v1/probe?flag=yes",
    message: 'flag: must be true or false, not "yes"',
  },
  {
    sentence: "a map in the query",
    target: "GET /v1/probe?labels=x",
    fields: ["labels"],
    message: /^labels: unknown query parameter/,
  },
  {
    sentence: "a query parameter that the path gives",
    target: "GET /v1/catalog/persona/x?ref.name=y",
    message: "ref.name: comes from the path: leave it out of the query",
  },
  {
    sentence: "a query parameter beside a body",
    target: "POST /v1/agent/stop-turn?runId=3",
    body: "{}",
    message: "runId: unknown query parameter; this method takes its fields in the body",
  },
  {
    sentence: "a query parameter that the body gives",
    target: "PATCH /v1/probe/n?inner.text=x",
    body: "{}",
    message: "inner.text: comes from the body: leave it out of the query",
  },
  {
    sentence: "a query behind a hash",
    target: "GET /v1/whoami#a=1",
    message: "a: unknown query parameter; this method takes none",
  },
  {
    sentence: "a body that contradicts the path",
    target: PUT,
    body: '{"ref":{"name":"y"}}',
    message: 'ref.name: is "x" in the path and "y" in the body',
  },
  {
    sentence: "an empty part of the path",
    target: "GET /v1/catalog/persona/",
    message: "ref.name: must not be empty in the path",
  },
  {
    sentence: "text for an integer in the path",
    target: "GET /v1/probe/five/COLOR_RED",
    message: 'big: must be a 64-bit integer, not "five"',
  },
  {
    sentence: "an unknown enum name in the path",
    target: "GET /v1/probe/5/RED",
    message: 'color: unknown value "RED"; allowed: COLOR_UNSPECIFIED, COLOR_RED',
  },
  {
    sentence: "a body where the rule has none",
    target: "DELETE /v1/catalog/persona/x",
    body: '{"ifGenerationMatch":"3"}',
    reason: "UNEXPECTED_BODY",
    message: /DELETE \/v1\/catalog\/.* takes no body: send its fields as query parameters/,
  },
  {
    sentence: "a body of another type",
    target: "POST /v1/agents",
    body: "<a/>",
    headers: { "content-type": "text/xml" },
    reason: "UNSUPPORTED_MEDIA_TYPE",
    message: "the content-type \"text/xml\" is not taken: send 'content-type: application/json'",
  },
  {
    sentence: "a form",
    target: "POST /v1/agents",
    body: "a=b",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    reason: "UNSUPPORTED_MEDIA_TYPE",
    message: /application\/x-www-form-urlencoded/,
  },
  {
    sentence: "a body without a type",
    target: "POST /v1/agents",
    body: "{}",
    headers: {},
    reason: "UNSUPPORTED_MEDIA_TYPE",
    message: "a body without a content-type is not taken: send 'content-type: application/json'",
  },
  {
    sentence: "a content-type that is none",
    target: "POST /v1/agents",
    body: "{}",
    headers: { "content-type": "json" },
    reason: "UNSUPPORTED_MEDIA_TYPE",
    message: /the content-type "json" is not taken/,
  },
  {
    sentence: "another charset",
    target: "POST /v1/agents",
    body: "{}",
    headers: { "content-type": "application/json; charset=latin1" },
    reason: "UNSUPPORTED_MEDIA_TYPE",
    message: /charset=latin1/,
  },
  {
    sentence: "a compressed body",
    target: "POST /v1/agents",
    body: gzipSync("{}"),
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
    reason: "UNSUPPORTED_MEDIA_TYPE",
    message: /content-encoding "gzip"/,
  },
  {
    sentence: "bytes that are not UTF-8",
    target: "POST /v1/agents",
    body: Buffer.from('{"account":"\xff"}', "latin1"),
    message: "the body is not valid UTF-8",
  },
  {
    sentence: "what is not JSON, with the place",
    target: "POST /v1/agents",
    body: '{"account":"a",}',
    message: /^the body is not valid JSON: .* at position 15/,
  },
  {
    sentence: "JSON that ends too soon",
    target: "POST /v1/agents",
    body: '{"account":"a',
    message: /^the body is not valid JSON: /,
  },
  {
    sentence: "JSON that is no object",
    target: "POST /v1/agents",
    body: "[]",
    message: "the request must be a JSON object, not an array",
  },
  { sentence: "null", target: "POST /v1/agents", body: "null", message: /must be a JSON object, not null/ },
  {
    sentence: "a name that comes twice",
    target: "POST /v1/agents",
    body: '{"parentId":{"agent":["a"],"tenant":{"org":"a","\\u006frg":"b"}}}',
    message: "parentId.tenant.org: given twice",
  },
  {
    sentence: "a name that comes twice in a list",
    target: "POST /v1/agent/queue",
    body: '{"tasks":[{"id":"1"},{"id":"2","id":"3"}]}',
    message: "tasks[1].id: given twice",
  },
  {
    sentence: "JSON of 101 levels",
    target: "POST /v1/agents",
    body: deep(101),
    reason: "JSON_TOO_DEEP",
    message: "the body is nested deeper than 100 levels",
  },
  {
    sentence: "JSON of two million levels, quickly",
    target: "POST /v1/agents",
    body: "[".repeat(2_000_000),
    reason: "JSON_TOO_DEEP",
    message: "the body is nested deeper than 100 levels",
  },
  {
    sentence: "malformed percent-encoding in the path",
    target: "GET /v1/catalog/persona/%zz",
    message: 'the path has malformed percent-encoding: "/v1/catalog/persona/%zz"',
  },
  {
    sentence: "percent-encoding that is not UTF-8",
    target: "GET /v1/catalog/persona/%ff",
    message: /the path has malformed percent-encoding/,
  },
  {
    sentence: "malformed percent-encoding in a path that is not served",
    target: "GET /v1/nowhere/%",
    message: /the path has malformed percent-encoding/,
  },
  {
    sentence: "malformed percent-encoding in the query",
    target: "GET /v1/audit?actor=%e4",
    message: 'the query has malformed percent-encoding: "%e4"',
  },
  {
    sentence: "a part of the path that is too long",
    target: `GET /v1/catalog/persona/${"x".repeat(1025)}`,
    message: "a part of the path is longer than 1024 characters",
  },
];

describe("INVALID_ARGUMENT for", () => {
  const gateway = shareGateway({ rpcs });
  for (const { sentence, target, body, headers, message, ...row } of ROWS) {
    it(sentence, async () => {
      const { port, seen } = gateway();
      const before = seen.length;
      const { status, headers: received, text } = await send(port, target, body, headers);
      const envelope = JSON.parse(text) as Envelope;
      const named = typeof message === "string" ? /^([\w.[\]]+): /.exec(message)?.slice(1) : undefined;
      const fields = row.fields ?? named ?? [];
      assert.equal(status, 400, text);
      assert.equal(envelope.code, 3);
      if (typeof message === "string") assert.equal(envelope.message, message);
      else assert.match(envelope.message, message);
      assert.deepEqual(fieldsOf(envelope), fields);
      assert.equal(
        reasonOf(envelope),
        row.reason ?? (fields.length > 0 ? "INVALID_FIELD" : "MALFORMED_REQUEST"),
      );
      assert.equal(received["content-type"], "application/json");
      assert.equal(seen.length, before, "the call came through");
    });
  }

  it("but not JSON of 100 levels, nor braces in a string", async () => {
    const { text } = await send(gateway().port, "POST /v1/agents", deep(100));
    assert.match((JSON.parse(text) as Envelope).message, /^x: unknown field/);
    const body = JSON.stringify({ account: `${"{[".repeat(200)}\\" "a":1,"a":2` });
    assert.equal((await send(gateway().port, "POST /v1/agents", body)).status, 200);
  });
});

describe("a request that is too large", () => {
  const TOO_LARGE = { code: 8, message: "request is larger than 4 MiB" };
  const gateway = shareGateway();

  for (const framing of ["content-length", "chunked"]) {
    it(`is RESOURCE_EXHAUSTED with ${framing}, also for a client that sends all before it reads`, async () => {
      const chunked = framing === "chunked" ? { "transfer-encoding": "chunked" } : {};
      const headers = { "content-type": "application/json", ...chunked };
      const body = Buffer.alloc(16 * MIB, " ");
      const { status, text } = await send(gateway().port, "POST /v1/agents", body, headers);
      const { details, ...rest } = JSON.parse(text) as Envelope;
      assert.equal(status, 429);
      assert.deepEqual(rest, TOO_LARGE);
      assert.equal(reasonOf({ ...rest, details }), "REQUEST_TOO_LARGE");
    });
  }

  it("has more than 4 MiB", async () => {
    const body = `{"account":"${"x".repeat(4 * MIB - 14)}"}`;
    assert.equal(body.length, 4 * MIB);
    assert.equal((await send(gateway().port, "POST /v1/agents", body)).status, 200);
    assert.equal((await send(gateway().port, "POST /v1/agents", `${body} `)).status, 429);
  });
});

describe("what is not served", () => {
  const gateway = shareGateway({ rpcs });

  const unknown = [
    "GET /v1",
    "GET /v1/",
    "GET /v1/nope",
    "POST /v1/agent/nope",
    "GET /v1/whoami/",
    "PUT /nope",
    "GET /",
  ];
  for (const target of unknown) {
    it(`${target} is NOT_FOUND without a key`, async () => {
      const { status, text, headers } = await send(gateway().port, target);
      const envelope = JSON.parse(text) as Envelope;
      assert.equal(status, 404);
      assert.equal(envelope.code, 5);
      assert.equal(reasonOf(envelope), "PATH_NOT_FOUND");
      assert.equal(envelope.message, `nothing is served at "${target.split(" ")[1]}"`);
      assert.equal(headers["content-type"], "application/json");
    });
  }

  it("is NOT_FOUND whatever the body is", async () => {
    assert.equal((await send(gateway().port, "POST /v1/nope", "{not json")).status, 404);
    assert.equal((await send(gateway().port, "POST /v1/nope", Buffer.alloc(8 * MIB))).status, 404);
  });

  const methods: [target: string, allowed: string][] = [
    ["GET /v1/agent/spawn", "POST"],
    ["POST /v1/whoami?x=1", "GET, HEAD"],
    ["PUT /v1/catalog/persona/x", "DELETE, GET, HEAD, POST"],
    ["PATCH /v1/catalog/a%2Fb", "GET, HEAD"],
    ["OPTIONS /v1/%77hoami", "GET, HEAD"],
    ["PROPFIND /v1/whoami", "GET, HEAD"],
    ["TRACE /v1/agents", "POST"],
    ["HEAD /v1/agent/watch", "POST"],
    ["GET /v1/probe/n", "PATCH"],
    ["POST http://somewhere/v1/whoami", "GET, HEAD"],
  ];
  for (const [target, allowed] of methods) {
    it(`${target} is UNIMPLEMENTED and lists ${allowed}`, async () => {
      const { status, text, headers } = await send(gateway().port, target);
      assert.equal(status, 501);
      assert.equal(headers.allow, allowed);
      if (target.startsWith("HEAD")) return;
      const envelope = JSON.parse(text) as Envelope;
      assert.equal(envelope.code, 12);
      assert.equal(reasonOf(envelope), "METHOD_NOT_ALLOWED");
      assert.equal(envelope.message, `${target.split(" ")[0]} is not possible here; allowed: ${allowed}`);
    });
  }
});

describe("what a handler throws", () => {
  const rows: [sentence: string, fault: Fault, status: number, headers: Record<string, string>][] = [
    ["has the status of its code", new Fault(Code.FAILED_PRECONDITION, "NO", "no"), 400, {}],
    ["asks for a key with a challenge", unauthenticated(), 401, { "www-authenticate": "Bearer" }],
    [
      "says in whole seconds when to come back",
      new Fault(Code.UNAVAILABLE, "BUSY", "busy", { retryAfterMs: 1200 }),
      503,
      { "retry-after": "2" },
    ],
    ["hides what is wrong with us", internal(), 500, {}],
  ];
  for (const [sentence, fault, status, headers] of rows) {
    it(sentence, async (t) => {
      const { port, logged } = await openGateway(t, { unary: () => Promise.reject(fault) });
      const answer = await send(port, "GET /v1/whoami");
      const envelope = JSON.parse(answer.text) as Envelope;
      assert.equal(answer.status, status);
      assert.deepEqual(
        { code: envelope.code, message: envelope.message },
        { code: fault.code, message: fault.message },
      );
      assert.equal(reasonOf(envelope), fault.reason);
      for (const [name, value] of Object.entries(headers)) assert.equal(answer.headers[name], value);
      assert.deepEqual(logged, []);
    });
  }

  it("or breaks in the gateway is logged and shown as an internal error", async (t) => {
    const { port, logged } = await openGateway(t, { unary: () => ({ payload: { secret: "hunter2" } }) });
    const { status, text } = await send(port, "GET /v1/catalog/persona/x");
    assert.deepEqual(
      { status, ...(JSON.parse(text) as Envelope), details: [] },
      {
        status: 500,
        code: 13,
        message: "internal error",
        details: [],
      },
    );
    assert.doesNotMatch(text, /hunter2|TypeError/);
    assert.equal(logged.length, 1);
  });

  it("is the whole envelope and nothing else", async (t) => {
    const { port } = await openGateway(t, {
      unary: () => Promise.reject(new Fault(Code.ABORTED, "RACE", "again")),
    });
    assert.deepEqual(JSON.parse((await send(port, "GET /v1/whoami")).text), {
      code: 10,
      message: "again",
      details: [
        {
          "@type": "type.googleapis.com/google.rpc.ErrorInfo",
          reason: "RACE",
          domain: "retinue",
          metadata: {},
        },
      ],
    });
  });
});
