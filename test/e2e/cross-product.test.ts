import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type DescMethod, fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { Code } from "../../gen/google/rpc/code_pb.js";
import { AgentService } from "../../gen/retinue/v1/agent_service_pb.js";
import { AuditService } from "../../gen/retinue/v1/audit_service_pb.js";
import { CatalogService, PutResourceRequestSchema } from "../../gen/retinue/v1/catalog_service_pb.js";
import { IdentityService } from "../../gen/retinue/v1/identity_service_pb.js";
import { TimelineService } from "../../gen/retinue/v1/timeline_service_pb.js";
import { type Clock, systemClock } from "../../src/engine/clock.js";
import { type Client, type Outcome, openClients, restOutcome, type Told, WIRES } from "../support/clients.js";
import { encode, mintKey, startServer, type TestServer } from "../support/server.js";

// A clock that stands still: what the protocols are told may not even differ in a time.
let nowMs = Date.UTC(2026, 10, 15, 9, 30);
const clock: Clock = { ...systemClock, nowMs: () => nowMs };

let server: TestServer;
let clients: Client[];
const keys: Record<string, string | undefined> = {};

before(async () => {
  server = await startServer({}, clock);
  clients = openClients(server.url);
  keys.admin = server.adminKey;
  keys.bad = `rtn_${"a".repeat(16)}.${"A".repeat(43)}`;
  keys.garbage = "what is this? ";
  keys.viewer = await mintKey(server, "viewer", { role: "viewer" });
});

type Rest = readonly [method: string, path: string, body?: JsonValue];

type Expected = readonly [code: Code, reason: string, text?: RegExp];

interface Row {
  readonly sentence: string;
  readonly key: "admin" | "viewer" | "bad" | "garbage" | "none";
  readonly method: DescMethod;
  readonly request: JsonValue;
  readonly rest: Rest;
  /** Of the fault; an answer is expected without. */
  readonly fault?: Expected;
}

const {
  getResource,
  putResource,
  listResources,
  listResourceVersions,
  deleteResource,
  approveChangeRequest,
} = CatalogService.method;
const { whoami } = IdentityService.method;

/** `{n}` in a request stands for the number of the protocol, so that each writes a name of its own. */
const ROWS: readonly Row[] = [
  ok("whoami tells who calls", whoami, {}, ["GET", "/v1/whoami"]),
  { ...ok("whoami works with any key", whoami, {}, ["GET", "/v1/whoami"]), key: "viewer" },
  ok("a builtin reads with generation 0", getResource, { ref: { kind: "persona", name: "default" } }, [
    "GET",
    "/v1/catalog/persona/default",
  ]),
  ok(
    "a put creates, and answers the document with its server-set fields",
    putResource,
    {
      ref: { kind: "workspace", name: "w{n}" },
      payload: encode({ displayName: "größe ✓" }),
      ifGenerationMatch: "0",
    },
    [
      "POST",
      "/v1/catalog/workspace/w{n}",
      { payload: encode({ displayName: "größe ✓" }), ifGenerationMatch: "0" },
    ],
  ),
  ok("what was put can be read", getResource, { ref: { kind: "workspace", name: "w{n}" } }, [
    "GET",
    "/v1/catalog/workspace/w{n}",
  ]),
  ok(
    "a patch changes what its mask names",
    putResource,
    {
      ref: { kind: "workspace", name: "w{n}" },
      payload: encode({ settings: { reasoningEffort: "high" } }),
      updateMask: "settings.reasoningEffort,displayName",
    },
    [
      "POST",
      "/v1/catalog/workspace/w{n}",
      {
        payload: encode({ settings: { reasoningEffort: "high" } }),
        updateMask: "settings.reasoningEffort,displayName",
      },
    ],
  ),
  ok("the history shows both writes", listResourceVersions, { ref: { kind: "workspace", name: "w{n}" } }, [
    "GET",
    "/v1/catalog/workspace/w{n}/history",
  ]),
  ok(
    "a delete counts one up",
    deleteResource,
    { ref: { kind: "workspace", name: "w{n}" }, ifGenerationMatch: "2" },
    ["DELETE", "/v1/catalog/workspace/w{n}?ifGenerationMatch=2"],
  ),
  ok("a list comes in pages", listResources, { ref: { kind: "model" }, pageSize: 1 }, [
    "GET",
    "/v1/catalog/model?pageSize=1",
  ]),
  ok(
    "an audit that has nothing to tell is an empty list",
    AuditService.method.listAuditRecords,
    { target: "workspace/nothing-ever", tenant: { provider: "PROVIDER_CODEHOST_APP", org: "local" } },
    ["GET", "/v1/audit?target=workspace/nothing-ever&tenant.provider=PROVIDER_CODEHOST_APP&tenant.org=local"],
  ),
  {
    sentence: "no key",
    key: "none",
    method: whoami,
    request: {},
    rest: ["GET", "/v1/whoami"],
    fault: [Code.UNAUTHENTICATED, "INVALID_KEY"],
  },
  {
    sentence: "a key that nobody was given",
    key: "bad",
    method: whoami,
    request: {},
    rest: ["GET", "/v1/whoami"],
    fault: [Code.UNAUTHENTICATED, "INVALID_KEY"],
  },
  {
    sentence: "something that is no key, on a resource that does not exist",
    key: "garbage",
    method: getResource,
    request: { ref: { kind: "workspace", name: "nothing" } },
    rest: ["GET", "/v1/catalog/workspace/nothing"],
    fault: [Code.UNAUTHENTICATED, "INVALID_KEY"],
  },
  {
    sentence: "a key without the scope",
    key: "viewer",
    method: putResource,
    request: { ref: { kind: "workspace", name: "x" }, payload: encode({}) },
    rest: ["POST", "/v1/catalog/workspace/x", { payload: encode({}) }],
    fault: [Code.PERMISSION_DENIED, "PERMISSION_DENIED"],
  },
  refused(
    "another tenant",
    getResource,
    { ref: { tenant: { provider: "PROVIDER_IDP_OIDC", org: "größe" }, kind: "workspace", name: "x" } },
    [
      "GET",
      `/v1/catalog/workspace/x?ref.tenant.provider=PROVIDER_IDP_OIDC&ref.tenant.org=${encodeURIComponent("größe")}`,
    ],
    [Code.PERMISSION_DENIED, "PERMISSION_DENIED"],
  ),
  refused(
    "an unknown kind, in words that are no ASCII",
    getResource,
    { ref: { kind: "wörk%space\u2028", name: "x" } },
    ["GET", `/v1/catalog/${encodeURIComponent("wörk%space\u2028")}/x`],
    [Code.INVALID_ARGUMENT, "UNKNOWN_KIND"],
  ),
  refused(
    "a bad name",
    getResource,
    { ref: { kind: "workspace", name: " Größe " } },
    ["GET", `/v1/catalog/workspace/${encodeURIComponent(" Größe ")}`],
    [Code.INVALID_ARGUMENT, "INVALID_FIELD"],
  ),
  refused(
    "a name that does not exist",
    getResource,
    { ref: { kind: "workspace", name: "nothing" } },
    ["GET", "/v1/catalog/workspace/nothing"],
    [Code.NOT_FOUND, "RESOURCE_NOT_FOUND"],
  ),
  refused(
    "a generation that is not the current one",
    putResource,
    { ref: { kind: "workspace", name: "nothing" }, payload: encode({}), ifGenerationMatch: "7" },
    ["POST", "/v1/catalog/workspace/nothing", { payload: encode({}), ifGenerationMatch: "7" }],
    [Code.FAILED_PRECONDITION, "GENERATION_MISMATCH"],
  ),
  refused(
    "a generation of more than 2^53, as text",
    deleteResource,
    { ref: { kind: "workspace", name: "nothing" }, ifGenerationMatch: "9007199254740993" },
    ["DELETE", "/v1/catalog/workspace/nothing?ifGenerationMatch=9007199254740993"],
    [Code.FAILED_PRECONDITION, "GENERATION_MISMATCH", /9007199254740993/],
  ),
  refused(
    "a negative generation",
    putResource,
    { ref: { kind: "workspace", name: "x" }, payload: encode({}), ifGenerationMatch: "-1" },
    ["POST", "/v1/catalog/workspace/x", { payload: encode({}), ifGenerationMatch: "-1" }],
    [Code.INVALID_ARGUMENT, "INVALID_FIELD"],
  ),
  refused(
    "a document with fields that nobody knows",
    putResource,
    { ref: { kind: "workspace", name: "x" }, payload: encode({ repos: [{ ulr: 1 }], größe: 2 }) },
    ["POST", "/v1/catalog/workspace/x", { payload: encode({ repos: [{ ulr: 1 }], größe: 2 }) }],
    [Code.INVALID_ARGUMENT, "INVALID_FIELD"],
  ),
  refused(
    "a document that breaks forty rules at once",
    putResource,
    {
      ref: { kind: "workspace", name: "x" },
      payload: encode({ repos: Array(40).fill({ name: "!", url: "?" }) }),
    },
    [
      "POST",
      "/v1/catalog/workspace/x",
      { payload: encode({ repos: Array(40).fill({ name: "!", url: "?" }) }) },
    ],
    [Code.INVALID_ARGUMENT, "INVALID_FIELD"],
  ),
  refused(
    "a mask that names a field that is not there",
    putResource,
    { ref: { kind: "workspace", name: "default" }, payload: encode({}), updateMask: "settings.effort" },
    ["POST", "/v1/catalog/workspace/default", { payload: encode({}), updateMask: "settings.effort" }],
    [Code.INVALID_ARGUMENT, "INVALID_FIELD"],
  ),
  refused(
    "a patch of what does not exist",
    putResource,
    { ref: { kind: "workspace", name: "x" }, payload: encode({}), updateMask: "displayName" },
    ["POST", "/v1/catalog/workspace/x", { payload: encode({}), updateMask: "displayName" }],
    [Code.NOT_FOUND, "RESOURCE_NOT_FOUND"],
  ),
  refused(
    "a page size below 0",
    listResources,
    { ref: { kind: "model" }, pageSize: -1 },
    ["GET", "/v1/catalog/model?pageSize=-1"],
    [Code.INVALID_ARGUMENT, "INVALID_FIELD"],
  ),
  refused(
    "a change request that does not exist",
    approveChangeRequest,
    { name: "cr-1" },
    ["POST", "/v1/change-requests/cr-1/approve", {}],
    [Code.NOT_FOUND, "RESOURCE_NOT_FOUND"],
  ),
  refused(
    "an agent that does not exist",
    AgentService.method.getAgentStatus,
    { agentId: { workspace: "default", agent: ["nobody"] } },
    ["POST", "/v1/agent/status", { agentId: { workspace: "default", agent: ["nobody"] } }],
    [Code.NOT_FOUND, "AGENT_NOT_FOUND"],
  ),
];

function ok(sentence: string, method: DescMethod, request: JsonValue, rest: Rest): Row {
  return { sentence, key: "admin", method, request, rest };
}

function refused(sentence: string, method: DescMethod, request: JsonValue, rest: Rest, fault: Expected): Row {
  return { ...ok(sentence, method, request, rest), fault };
}

const numbered = <T>(value: T, n: number): T =>
  JSON.parse(JSON.stringify(value).replaceAll("{n}", String(n))) as T;
const unnumbered = <T>(value: T, n: number): T =>
  JSON.parse(JSON.stringify(value).replaceAll(`"w${n}"`, '"w{n}"')) as T;

/** Every protocol must have been told the same as the first, which is `/v1` over HTTP/1.1. */
function assertSame(told: readonly (readonly [name: string, outcome: Outcome])[]): Outcome {
  const [first] = told;
  assert.ok(first);
  const others = told.filter(([, outcome]) => !isSame(outcome, first[1]));
  const lines = [first, ...others].map(
    ([name, outcome]) => `${name}: ${JSON.stringify(outcome).slice(0, 2000)}`,
  );
  assert.equal(others.length, 0, lines.join("\n"));
  return first[1];
}

function isSame(a: unknown, b: unknown): boolean {
  try {
    assert.deepEqual(a, b);
    return true;
  } catch {
    return false;
  }
}

function assertFault(outcome: Outcome, code: Code, reason: string, text?: RegExp): Told {
  assert.ok("fault" in outcome, JSON.stringify(outcome));
  const { fault } = outcome;
  const [info] = fault.details as [{ "@type": string; reason: string; domain: string }];
  assert.deepEqual(
    [fault.code, info?.["@type"], info?.reason, info?.domain],
    [code, "type.googleapis.com/google.rpc.ErrorInfo", reason, "retinue"],
    JSON.stringify(fault),
  );
  if (text) assert.match(fault.message, text);
  return fault;
}

describe("the same call in every protocol, through the libraries that people use", () => {
  for (const { sentence, key, method, request, rest, fault } of ROWS) {
    test(`${sentence}: ${fault ? `${Code[fault[0]]} ${fault[1]}` : "the same answer"}`, async () => {
      const secret = keys[key];
      const told: (readonly [string, Outcome])[] = [];
      for (const [n, version] of [
        [100, "1.1"],
        [101, "2"],
      ] as const) {
        const outcome = await restOutcome(server.url, version, secret, numbered(rest, n));
        told.push([`/v1, HTTP/${version}`, unnumbered(outcome, n)]);
      }
      for (const [n, client] of clients.entries()) {
        const outcome = await client.unary(method, numbered(request, n), secret);
        told.push([client.name, unnumbered(outcome, n)]);
      }
      const outcome = assertSame(told);
      if (fault) assertFault(outcome, ...fault);
      else assert.ok("answer" in outcome, JSON.stringify(outcome));
    });
  }

  test("a request of more than 4 MiB: RESOURCE_EXHAUSTED REQUEST_TOO_LARGE", async () => {
    const payload = Buffer.alloc(4 * 1024 * 1024 + 1, 0x20).toString("base64");
    const told: (readonly [string, Outcome])[] = [];
    for (const version of ["1.1", "2"] as const) {
      const rest = ["POST", "/v1/catalog/workspace/x", { payload }] as const;
      told.push([`/v1, HTTP/${version}`, await restOutcome(server.url, version, keys.admin, rest)]);
    }
    const request = { ref: { kind: "workspace", name: "x" }, payload };
    // On connections of their own: whether they serve on is another question, and another test.
    for (const client of openClients(server.url)) {
      told.push([client.name, await client.unary(putResource, request, keys.admin)]);
    }
    assertFault(assertSame(told), Code.RESOURCE_EXHAUSTED, "REQUEST_TOO_LARGE");
  });

  for (const [sentence, key, code, reason] of [
    ["of an agent that does not exist", "admin", Code.NOT_FOUND, "AGENT_NOT_FOUND"],
    ["without a key", "none", Code.UNAUTHENTICATED, "INVALID_KEY"],
  ] as const) {
    test(`a stream ${sentence}: ${Code[code]} ${reason}, also as Server-Sent Events`, async () => {
      const request = { agentId: { workspace: "default", agent: ["nobody"] } };
      const told: (readonly [string, Outcome])[] = [];
      for (const version of ["1.1", "2"] as const) {
        const outcome = await restOutcome(server.url, version, keys[key], [
          "POST",
          "/v1/agent/watch",
          request,
        ]);
        told.push([`/v1, HTTP/${version}`, outcome]);
      }
      for (const client of clients) {
        told.push([client.name, await client.first(TimelineService.method.watch, request, keys[key])]);
      }
      assertFault(assertSame(told), code, reason);
    });
  }

  test("a key that asks too often: RESOURCE_EXHAUSTED RATE_LIMITED, and when to come back", async () => {
    const busy = await startServer({ requestsPerSecond: 1 }, clock);
    const told: (readonly [string, Outcome])[] = [];
    const callers: Pick<Client, "name" | "unary">[] = [
      {
        name: "/v1",
        unary: (_method, _request, key) => restOutcome(busy.url, "1.1", key, ["GET", "/v1/whoami"]),
      },
      ...openClients(busy.url),
    ];
    for (const [n, client] of callers.entries()) {
      nowMs += 60_000;
      const key = await mintKey(busy, `busy${n}`, { role: "viewer" });
      // Two seconds' worth may come at once.
      for (let i = 0; i < 2; i++) assert.ok("answer" in (await client.unary(whoami, {}, key)), client.name);
      told.push([client.name, await client.unary(whoami, {}, key)]);
    }
    const fault = assertFault(assertSame(told), Code.RESOURCE_EXHAUSTED, "RATE_LIMITED");
    assert.deepEqual((fault.details as JsonValue[])[1], {
      "@type": "type.googleapis.com/google.rpc.RetryInfo",
      retryDelay: "1s",
    });
  });
});

describe("JSON that no library would send is refused in the same words by /v1 and by every protocol with JSON", () => {
  const json = WIRES.filter((wire) => wire.format === "json");
  const payload = encode({});
  /** The body as text; `/v1` has the reference in its path, the others get it from `ref`, unless the text has one. */
  const rows: readonly (readonly [sentence: string, body: string, reason: string])[] = [
    ["an unknown field", `{"payload":"${payload}","ifGenerationMatches":"0"}`, "INVALID_FIELD"],
    ["an unknown field below another", '{"ref":{"kind":"workspace","name":"x","nmae":"y"}}', "INVALID_FIELD"],
    ["a dozen unknown fields", `{${Array.from({ length: 12 }, (_, i) => `"größe${i}":1`)}}`, "INVALID_FIELD"],
    [
      "an unknown enum name",
      '{"ref":{"kind":"workspace","name":"x","tenant":{"provider":"PROVIDER_NOPE"}}}',
      "INVALID_FIELD",
    ],
    [
      "an enum number that nobody knows",
      '{"ref":{"kind":"workspace","name":"x","tenant":{"provider":99}}}',
      "INVALID_FIELD",
    ],
    [
      "a number beyond 2^53",
      `{"payload":"${payload}","ifGenerationMatch":9007199254740993}`,
      "INVALID_FIELD",
    ],
    [
      "a name that comes twice",
      `{"payload":"${payload}","ifGenerationMatch":1,"ifGenerationMatch":2}`,
      "INVALID_FIELD",
    ],
    ["a field in both of its spellings", '{"updateMask":"a","update_mask":"b"}', "INVALID_FIELD"],
    ["what is no base64", '{"payload":"ü"}', "INVALID_FIELD"],
    ["half of a surrogate pair", '{"justification":"\\ud800"}', "INVALID_FIELD"],
    ["a list in place of an object", "[1]", "MALFORMED_REQUEST"],
    ["null", "null", "MALFORMED_REQUEST"],
    ["what is no JSON", '{"payload":', "MALFORMED_REQUEST"],
    ["a hundred and one levels", `{"x":${"[".repeat(100)}${"]".repeat(100)}}`, "JSON_TOO_DEEP"],
    ["a hundred thousand levels, none closed", "[".repeat(100_000), "JSON_TOO_DEEP"],
  ];
  for (const [sentence, body, reason] of rows) {
    test(`${sentence}: INVALID_ARGUMENT ${reason}`, async () => {
      const told: (readonly [string, Outcome])[] = [];
      for (const version of ["1.1", "2"] as const) {
        const rest = ["POST", "/v1/catalog/workspace/x", body] as const;
        told.push([`/v1, HTTP/${version}`, await restOutcome(server.url, version, keys.admin, rest)]);
      }
      for (const wire of json) {
        const bytes = Buffer.from(body);
        told.push([wire.name, await wire.send(server.url, putResource, bytes, { key: server.adminKey })]);
      }
      assertFault(assertSame(told), Code.INVALID_ARGUMENT, reason);
    });
  }

  test("a text of 2 MiB that is quoted in the fault is cut to the same length by all", async () => {
    const body = JSON.stringify({ ref: { kind: "workspace", name: "x" }, ["ü".repeat(1024 * 1024)]: 1 });
    const told: (readonly [string, Outcome])[] = [
      ["/v1", await restOutcome(server.url, "1.1", keys.admin, ["POST", "/v1/catalog/workspace/x", body])],
    ];
    for (const wire of json) {
      told.push([
        wire.name,
        await wire.send(server.url, putResource, Buffer.from(body), { key: server.adminKey }),
      ]);
    }
    const fault = assertFault(assertSame(told), Code.INVALID_ARGUMENT, "INVALID_FIELD");
    assert.ok(Buffer.byteLength(JSON.stringify(fault)) < 8192, "gRPC clients give up at 8 KiB of headers");
  });
});

describe("bytes that no library would send are refused in the same words by every binary protocol", () => {
  const binary = WIRES.filter((wire) => wire.format === "binary");
  const good = toBinary(
    PutResourceRequestSchema,
    fromJson(PutResourceRequestSchema, { ref: { kind: "workspace", name: "bytes" }, payload: encode({}) }),
  );
  const rows: readonly (readonly [sentence: string, bytes: Uint8Array])[] = [
    ["bytes that are no protobuf", Buffer.from([0xff, 0xff, 0xff])],
    ["a message that is cut", good.subarray(0, -1)],
    ["a length beyond the end", Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0x07])],
    ["a group that is never closed", Buffer.from([0x0b])],
    ["a field with the number 0", Buffer.from([0x00, 0x00])],
    ["a varint without an end", Buffer.from([0x28, ...Array(11).fill(0x80)])],
    ["a wire type that there is not", Buffer.from([0x0f])],
  ];
  for (const [sentence, bytes] of rows) {
    test(`${sentence}: INVALID_ARGUMENT MALFORMED_REQUEST`, async () => {
      const told: (readonly [string, Outcome])[] = [];
      for (const wire of binary) {
        told.push([wire.name, await wire.send(server.url, putResource, bytes, { key: server.adminKey })]);
      }
      assertFault(assertSame(told), Code.INVALID_ARGUMENT, "MALFORMED_REQUEST");
    });
  }

  test("text that is no UTF-8: INVALID_ARGUMENT, and nothing is written", async () => {
    const ref = Buffer.concat([
      Buffer.from([0x12, 9]),
      Buffer.from("workspace"),
      Buffer.from([0x1a, 2, 0xc3, 0x28]),
    ]);
    const bytes = Buffer.concat([
      Buffer.from([0x0a, ref.length]),
      ref,
      Buffer.from([0x12, 2]),
      Buffer.from("{}"),
    ]);
    const told: (readonly [string, Outcome])[] = [];
    for (const wire of binary) {
      told.push([wire.name, await wire.send(server.url, putResource, bytes, { key: server.adminKey })]);
    }
    const outcome = assertSame(told);
    assert.ok("fault" in outcome, JSON.stringify(outcome));
    assert.equal(outcome.fault.code, Code.INVALID_ARGUMENT);
  });

  test("an enum number that nobody knows: INVALID_ARGUMENT, as in JSON", async () => {
    const tenant = Buffer.from([0x08, 99]);
    const ref = Buffer.concat([
      Buffer.from([0x0a, tenant.length]),
      tenant,
      Buffer.from([0x12, 9]),
      Buffer.from("workspace"),
      Buffer.from([0x1a, 1, 0x78]),
    ]);
    const bytes = Buffer.concat([
      Buffer.from([0x0a, ref.length]),
      ref,
      Buffer.from([0x12, 2]),
      Buffer.from("{}"),
    ]);
    const told: (readonly [string, Outcome])[] = [];
    for (const wire of binary) {
      told.push([wire.name, await wire.send(server.url, putResource, bytes, { key: server.adminKey })]);
    }
    const fault = assertFault(assertSame(told), Code.INVALID_ARGUMENT, "INVALID_FIELD");
    assert.match(fault.message, /provider.*99/);
  });

  test("an unknown field is skipped: an older server takes what a newer client sends", async () => {
    const bytes = Buffer.concat([good, Buffer.from([0xf8, 0x3f, 0x01])]);
    const told: (readonly [string, Outcome])[] = [];
    for (const wire of binary) {
      told.push([wire.name, await wire.send(server.url, putResource, bytes, { key: server.adminKey })]);
    }
    const outcome = assertSame(told);
    assert.ok("answer" in outcome, JSON.stringify(outcome));
  });
});

describe("who has no key learns nothing about their request", () => {
  test("what cannot be decoded is UNAUTHENTICATED in every protocol", async () => {
    const told: (readonly [string, Outcome])[] = [];
    for (const version of ["1.1", "2"] as const) {
      const outcome = await restOutcome(server.url, version, undefined, [
        "POST",
        "/v1/catalog/workspace/x",
        "{",
      ]);
      told.push([`/v1, HTTP/${version}`, outcome]);
    }
    for (const wire of WIRES) {
      const bytes = wire.format === "json" ? Buffer.from("{") : Buffer.from([0xff]);
      told.push([wire.name, await wire.send(server.url, putResource, bytes)]);
    }
    assertFault(assertSame(told), Code.UNAUTHENTICATED, "INVALID_KEY");
  });
});

describe("a path that is none of ours", () => {
  test("an unknown service is UNIMPLEMENTED to gRPC clients", async () => {
    const method = {
      ...whoami,
      parent: { ...IdentityService, typeName: "retinue.v1.NoService" },
    } as DescMethod;
    for (const client of clients.filter(({ name }) => name.startsWith("gRPC,"))) {
      const outcome = await client.unary(method, {}, keys.admin);
      assert.ok("fault" in outcome, client.name);
      assert.equal(outcome.fault.code, Code.UNIMPLEMENTED, client.name);
    }
  });

  test("an unknown method is UNIMPLEMENTED in every protocol, in the same words", async () => {
    const method = { ...whoami, name: "Whoareyou" } as DescMethod;
    const told: (readonly [string, Outcome])[] = [];
    for (const client of clients) told.push([client.name, await client.unary(method, {}, keys.admin)]);
    assertFault(assertSame(told), Code.UNIMPLEMENTED, "UNIMPLEMENTED");
  });
});

after(() => {
  const unexpected = server.logged.filter((line) => line.includes('"level":50'));
  assert.deepEqual(unexpected, [], "no call above is a bug of the server");
});
