import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import net from "node:net";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import grpc from "@grpc/grpc-js";
import {
  exchange,
  type HttpReply,
  type HttpRequest,
  type HttpVersion,
  openGrpcJs,
} from "../support/clients.js";
import { encode, mintKey, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let viewer: string;
before(async () => {
  server = await startServer();
  viewer = await mintKey(server, "viewer", { role: "viewer" });
});

/** Section 7 of the interface, and row 3 of the semantics. */
const STATUS_OF_CODE: Readonly<Record<number, number>> = {
  1: 499,
  2: 500,
  3: 400,
  4: 504,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  9: 400,
  10: 409,
  11: 400,
  12: 501,
  13: 500,
  14: 503,
  15: 500,
  16: 401,
};

interface Envelope {
  readonly code: number;
  readonly message: string;
  readonly details: {
    "@type": string;
    reason?: string;
    domain?: string;
    fieldViolations?: { field: string }[];
  }[];
}

/** The documented envelope and nothing else. */
function assertEnvelope(status: number, contentType: unknown, body: string): Envelope {
  assert.equal(contentType, "application/json", body);
  const envelope = JSON.parse(body) as Envelope;
  assert.deepEqual(Object.keys(envelope).sort(), ["code", "details", "message"]);
  assert.equal(STATUS_OF_CODE[envelope.code], status, body);
  assert.ok(typeof envelope.message === "string" && envelope.message.length > 0, body);
  assert.ok(Array.isArray(envelope.details), body);
  for (const detail of envelope.details)
    assert.match(detail["@type"], /^type\.googleapis\.com\/google\.rpc\.\w+$/);
  const infos = envelope.details.filter((detail) => detail["@type"].endsWith("google.rpc.ErrorInfo"));
  assert.equal(infos.length, 1, `ErrorInfo always, and once: ${body}`);
  assert.equal(infos[0]?.domain, "retinue");
  assert.match(infos[0]?.reason ?? "", /^[A-Z][A-Z0-9_]*$/);
  return envelope;
}

const reasonOf = ({ details }: Envelope) => details.find((detail) => detail.reason !== undefined)?.reason;
const fieldsOf = ({ details }: Envelope) =>
  details.flatMap((detail) => detail.fieldViolations ?? []).map(({ field }) => field);

function assertFault(reply: HttpReply, [status, code, reason, text, field]: Expected): void {
  const envelope = assertEnvelope(reply.status, reply.headers["content-type"], reply.body.toString());
  assert.deepEqual(
    [reply.status, envelope.code, reasonOf(envelope)],
    [status, code, reason],
    envelope.message,
  );
  if (text) assert.match(envelope.message, text);
  if (field !== undefined) assert.deepEqual(fieldsOf(envelope), [field]);
}

type Expected = readonly [status: number, code: number, reason: string, text?: RegExp, field?: string];
type Row = readonly [sentence: string, request: HttpRequest, expected: Expected];

const JSON_TYPE = { "content-type": "application/json" };
const PUT = "/v1/catalog/workspace/x";
const GET = "/v1/catalog/workspace/default";
const post = (
  path: string,
  body: string | Uint8Array,
  headers: Record<string, string> = JSON_TYPE,
): HttpRequest => ({
  method: "POST",
  path,
  headers,
  body,
});
const get = (path: string): HttpRequest => ({ path });

const BODIES: readonly Row[] = [
  ["a body that is no JSON", post(PUT, "{"), [400, 3, "MALFORMED_REQUEST", /JSON/]],
  ["a body that is YAML", post(PUT, "payload: e30="), [400, 3, "MALFORMED_REQUEST", /JSON/]],
  ["two bodies in one", post(PUT, "{}{}"), [400, 3, "MALFORMED_REQUEST", /JSON/]],
  ["a body with a trailing comma", post(PUT, '{"payload":"e30=",}'), [400, 3, "MALFORMED_REQUEST", /JSON/]],
  ["a body with NaN", post(PUT, '{"ifGenerationMatch":NaN}'), [400, 3, "MALFORMED_REQUEST", /JSON/]],
  ["an array", post(PUT, "[]"), [400, 3, "MALFORMED_REQUEST", /object/]],
  ["a string", post(PUT, '"{}"'), [400, 3, "MALFORMED_REQUEST", /object/]],
  ["null", post(PUT, "null"), [400, 3, "MALFORMED_REQUEST", /object/]],
  ["blanks only", post(PUT, "  \n"), [400, 3, "MALFORMED_REQUEST", /JSON/]],
  [
    "bytes that are no UTF-8",
    post(PUT, Buffer.from([0x7b, 0xff, 0x7d])),
    [400, 3, "MALFORMED_REQUEST", /UTF-8/],
  ],
  [
    "an unknown field",
    post(PUT, '{"payload":"e30=","ifGenerationMatches":"0"}'),
    [400, 3, "INVALID_FIELD", /ifGenerationMatches/, "ifGenerationMatches"],
  ],
  [
    "a known field in the wrong case",
    post(PUT, '{"Payload":"e30="}'),
    [400, 3, "INVALID_FIELD", /Payload/, "Payload"],
  ],
  [
    "an unknown field below another",
    post(PUT, '{"ref":{"tenant":{"organisation":"x"}}}'),
    [400, 3, "INVALID_FIELD", /organisation/, "ref.tenant.organisation"],
  ],
  [
    "the field __proto__",
    post(PUT, '{"__proto__":{"payload":"e30="}}'),
    [400, 3, "INVALID_FIELD", /__proto__/, "__proto__"],
  ],
  [
    "an unknown enum name",
    post(PUT, '{"ref":{"tenant":{"provider":"PROVIDER_NOPE"}}}'),
    [400, 3, "INVALID_FIELD", /PROVIDER_NOPE.*PROVIDER_CODEHOST_APP/, "ref.tenant.provider"],
  ],
  [
    "an enum name without its prefix",
    post(PUT, '{"ref":{"tenant":{"provider":"CODEHOST_APP"}}}'),
    [400, 3, "INVALID_FIELD", /CODEHOST_APP/, "ref.tenant.provider"],
  ],
  [
    "an unknown enum number",
    post(PUT, '{"ref":{"tenant":{"provider":99}}}'),
    [400, 3, "INVALID_FIELD", /99/, "ref.tenant.provider"],
  ],
  [
    "a field of the wrong type",
    post(PUT, '{"payload":{"displayName":"x"}}'),
    [400, 3, "INVALID_FIELD", /payload.*base64/, "payload"],
  ],
  [
    "a 64-bit integer beyond 2^53 as a number",
    post(PUT, '{"payload":"e30=","ifGenerationMatch":9007199254740993}'),
    [400, 3, "INVALID_FIELD", /2\^53/, "ifGenerationMatch"],
  ],
  [
    "a 64-bit integer beyond 2^63 as a string",
    post(PUT, '{"payload":"e30=","ifGenerationMatch":"9223372036854775808"}'),
    [400, 3, "INVALID_FIELD", /9223372036854775808/, "ifGenerationMatch"],
  ],
  [
    "a 64-bit integer that is none",
    post(PUT, '{"payload":"e30=","ifGenerationMatch":1.5}'),
    [400, 3, "INVALID_FIELD", /1\.5/, "ifGenerationMatch"],
  ],
  [
    "an empty string for an integer",
    post(PUT, '{"payload":"e30=","ifGenerationMatch":""}'),
    [400, 3, "INVALID_FIELD", /ifGenerationMatch/, "ifGenerationMatch"],
  ],
  [
    "a name that comes twice",
    post(PUT, '{"payload":"e30=","ifGenerationMatch":"1","ifGenerationMatch":"2"}'),
    [400, 3, "INVALID_FIELD", /twice/, "ifGenerationMatch"],
  ],
  [
    "a kind in the body that is not the path's",
    post(PUT, '{"ref":{"kind":"persona"},"payload":"e30="}'),
    [400, 3, "INVALID_FIELD", /workspace.*persona/, "ref.kind"],
  ],
  [
    "a name in the body that is not the path's",
    post(PUT, '{"ref":{"name":"y"},"payload":"e30="}'),
    [400, 3, "INVALID_FIELD", /"x".*"y"/, "ref.name"],
  ],
  ["a body nested too deeply", post(PUT, `{"x":${"[".repeat(100)}`), [400, 3, "JSON_TOO_DEEP", /100/]],
  ["a body nested a million levels", post(PUT, "[".repeat(1_000_000)), [400, 3, "JSON_TOO_DEEP", /100/]],
  [
    "a body of more than 4 MiB",
    post(PUT, " ".repeat(4 * 1024 * 1024 + 1)),
    [429, 8, "REQUEST_TOO_LARGE", /4 MiB/],
  ],
  [
    "a body of more than 4 MiB of another type",
    post(PUT, "x".repeat(4 * 1024 * 1024 + 1), { "content-type": "text/plain" }),
    [400, 3, "UNSUPPORTED_MEDIA_TYPE", /application\/json/],
  ],
  [
    "the media type text/plain",
    post(PUT, "{}", { "content-type": "text/plain" }),
    [400, 3, "UNSUPPORTED_MEDIA_TYPE", /text\/plain.*application\/json/],
  ],
  [
    "what a form sends",
    post(PUT, "payload=e30=", { "content-type": "application/x-www-form-urlencoded" }),
    [400, 3, "UNSUPPORTED_MEDIA_TYPE", /application\/json/],
  ],
  [
    "a body without a media type",
    post(PUT, "{}", {}),
    [400, 3, "UNSUPPORTED_MEDIA_TYPE", /application\/json/],
  ],
  [
    "a media type that is none",
    post(PUT, "{}", { "content-type": "json" }),
    [400, 3, "UNSUPPORTED_MEDIA_TYPE", /application\/json/],
  ],
  [
    "another character set",
    post(PUT, "{}", { "content-type": "application/json; charset=latin1" }),
    [400, 3, "UNSUPPORTED_MEDIA_TYPE", /latin1/],
  ],
  [
    "a compressed body",
    post(PUT, gzipSync("{}"), { ...JSON_TYPE, "content-encoding": "gzip" }),
    [400, 3, "UNSUPPORTED_MEDIA_TYPE", /gzip/],
  ],
  [
    "the media type of gRPC on a path of /v1",
    post(PUT, Buffer.alloc(5), { "content-type": "application/grpc" }),
    [400, 3, "UNSUPPORTED_MEDIA_TYPE", /application\/grpc/],
  ],
  [
    "a delete with its precondition in a body",
    { method: "DELETE", path: PUT, headers: JSON_TYPE, body: '{"ifGenerationMatch":"1"}' },
    [400, 3, "UNEXPECTED_BODY", /query/],
  ],
];

const PATHS: readonly Row[] = [
  [
    "an unknown query parameter",
    get(`${GET}?tenant=x`),
    [400, 3, "INVALID_FIELD", /tenant.*ref\.tenant/, "tenant"],
  ],
  [
    "a query parameter in the wrong case",
    get(`${GET}?ref.tenant.Org=x`),
    [400, 3, "INVALID_FIELD", /ref\.tenant\.Org/, "ref.tenant.Org"],
  ],
  [
    "a query parameter that comes twice",
    get(`${GET}?ref.tenant.org=local&ref.tenant.org=local`),
    [400, 3, "INVALID_FIELD", /more than once/, "ref.tenant.org"],
  ],
  [
    "a query parameter that comes twice, in both of its spellings",
    get("/v1/audit?pageSize=1&page_size=1"),
    [400, 3, "INVALID_FIELD", /more than once/, "page_size"],
  ],
  [
    "an unknown enum name in the query",
    get(`${GET}?ref.tenant.provider=CODEHOST`),
    [400, 3, "INVALID_FIELD", /CODEHOST.*PROVIDER_CODEHOST_APP/, "ref.tenant.provider"],
  ],
  [
    "a field of the path in the query",
    get(`${GET}?ref.name=default`),
    [400, 3, "INVALID_FIELD", /path/, "ref.name"],
  ],
  [
    "a query on a method that takes a body",
    post(`${PUT}?ifGenerationMatch=0`, '{"payload":"e30="}'),
    [400, 3, "INVALID_FIELD", /body/, "ifGenerationMatch"],
  ],
  ["a query parameter on whoami", get("/v1/whoami?x=1"), [400, 3, "INVALID_FIELD", /takes none/, "x"]],
  [
    "a page size that is no number",
    get("/v1/audit?pageSize=many"),
    [400, 3, "INVALID_FIELD", /many/, "pageSize"],
  ],
  [
    "a page size beyond 32 bits",
    get("/v1/audit?pageSize=2147483648"),
    [400, 3, "INVALID_FIELD", /2147483648/, "pageSize"],
  ],
  [
    "malformed percent-encoding in the query",
    get(`${GET}?ref.tenant.org=%zz`),
    [400, 3, "MALFORMED_REQUEST", /%zz/],
  ],
  [
    "percent-encoded bytes that are no UTF-8 in the query",
    get(`${GET}?ref.tenant.org=%ff`),
    [400, 3, "MALFORMED_REQUEST", /%ff/],
  ],
  [
    "malformed percent-encoding in the path",
    get("/v1/catalog/workspace/%zz"),
    [400, 3, "MALFORMED_REQUEST", /percent/],
  ],
  [
    "percent-encoded bytes that are no UTF-8 in the path",
    get("/v1/catalog/workspace/%ff"),
    [400, 3, "MALFORMED_REQUEST", /percent/],
  ],
  [
    "a percent sign at the end of the path",
    get("/v1/catalog/workspace/x%"),
    [400, 3, "MALFORMED_REQUEST", /percent/],
  ],
  [
    "malformed percent-encoding in a path that is not served",
    get("/v1/nothing/%zz"),
    [400, 3, "MALFORMED_REQUEST", /percent/],
  ],
  [
    "a NUL in the path",
    get("/v1/catalog/workspace/a%00b"),
    [400, 3, "INVALID_FIELD", /ref\.name/, "ref.name"],
  ],
  [
    "a slash in a name",
    get("/v1/catalog/workspace/a%2Fb"),
    [400, 3, "INVALID_FIELD", /ref\.name/, "ref.name"],
  ],
  [
    "dots that would climb",
    get("/v1/catalog/workspace/%2e%2e"),
    [400, 3, "INVALID_FIELD", /ref\.name/, "ref.name"],
  ],
  [
    "a name of 5000 characters",
    get(`/v1/catalog/workspace/${"x".repeat(5000)}`),
    [400, 3, "MALFORMED_REQUEST", /long/],
  ],
  ["an empty name", get("/v1/catalog/workspace/"), [400, 3, "INVALID_FIELD", /ref\.name/, "ref.name"]],
  ["a name that does not exist", get(PUT), [404, 5, "RESOURCE_NOT_FOUND", /workspace.*'x'/]],
  [
    "an agent that does not exist",
    post("/v1/agent/status", '{"agentId":{"workspace":"default","agent":["nobody"]}}'),
    [404, 5, "AGENT_NOT_FOUND", /nobody/],
  ],
  [
    "a method that the path is not served for",
    { method: "PUT", path: PUT },
    [501, 12, "METHOD_NOT_ALLOWED", /PUT.*DELETE, GET, HEAD, POST/],
  ],
  ["a POST to whoami", post("/v1/whoami", "{}"), [501, 12, "METHOD_NOT_ALLOWED", /POST.*GET/]],
  ["a GET of a method that is a POST", get("/v1/agent/status"), [501, 12, "METHOD_NOT_ALLOWED", /GET.*POST/]],
  ["OPTIONS", { method: "OPTIONS", path: "/v1/whoami" }, [501, 12, "METHOD_NOT_ALLOWED", /OPTIONS.*GET/]],
  [
    "a method of WebDAV",
    { method: "PROPFIND", path: "/v1/whoami" },
    [501, 12, "METHOD_NOT_ALLOWED", /PROPFIND.*GET/],
  ],
  ["TRACE", { method: "TRACE", path: "/v1/whoami" }, [501, 12, "METHOD_NOT_ALLOWED", /TRACE.*GET/]],
];

/** Row 4 of the semantics: 404, code 5, and no key is needed to be told. */
const UNKNOWN_PATHS = [
  "/v1",
  "/v1/",
  "/v1/nothing",
  "/v1/whoami/",
  "/v1/whoami/x",
  "/v1/Whoami",
  "/V1/whoami",
  "/v2/whoami",
  "/v1//whoami",
  "//v1/whoami",
  "/v1/catalog",
  "/v1/catalog/a/b/c",
  "/v1/../v1/whoami",
  "/v1/whoami;x=1",
  "/v1/nothing?key=x",
  "/",
];

for (const version of ["1.1", "2"] as const satisfies HttpVersion[]) {
  const send = (request: HttpRequest, key?: string) => {
    const headers = { ...request.headers, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) };
    return exchange(server.url, version, { ...request, headers });
  };

  describe(`over HTTP/${version}, with a key that may do everything`, () => {
    for (const [sentence, request, expected] of [...BODIES, ...PATHS]) {
      test(`${sentence}: ${expected[0]} with the envelope, ${expected[2]}`, async () => {
        assertFault(await send(request, server.adminKey), expected);
      });
    }
  });

  describe(`over HTTP/${version}`, () => {
    for (const path of UNKNOWN_PATHS) {
      for (const method of ["GET", "POST", "DELETE"]) {
        test(`${method} ${path} is not served: 404 with the envelope, and no key is needed`, async () => {
          assertFault(await send({ method, path }), [404, 5, "PATH_NOT_FOUND"]);
        });
      }
    }

    test("a large body to an unknown path is answered, whatever it is", async () => {
      const body = Buffer.alloc(6 * 1024 * 1024);
      const reply = await send({
        method: "POST",
        path: "/v1/nothing",
        headers: { "content-type": "video/mp4" },
        body,
      });
      assertFault(reply, [404, 5, "PATH_NOT_FOUND"]);
    });

    test("a wrong method needs no key either, and says which are right", async () => {
      const reply = await send({ method: "PATCH", path: "/v1/whoami" });
      assertFault(reply, [501, 12, "METHOD_NOT_ALLOWED"]);
      assert.equal(reply.headers.allow, "GET, HEAD");
    });

    test("no key: 401, and how to authenticate", async () => {
      const reply = await send(get("/v1/whoami"));
      assertFault(reply, [401, 16, "INVALID_KEY"]);
      assert.equal(reply.headers["www-authenticate"], "Bearer");
    });

    test("a key without the scope: 403", async () => {
      assertFault(await send(post(PUT, `{"payload":"${encode({})}"}`), viewer), [
        403,
        7,
        "PERMISSION_DENIED",
      ]);
    });

    test("a failed precondition: 400 and code 9, with what did not hold", async () => {
      const body = `{"payload":"${encode({})}","ifGenerationMatch":"7"}`;
      const reply = await send(post(PUT, body), server.adminKey);
      assertFault(reply, [400, 9, "GENERATION_MISMATCH"]);
      const [, precondition] = JSON.parse(reply.body.toString()).details;
      assert.equal(precondition["@type"], "type.googleapis.com/google.rpc.PreconditionFailure");
      assert.equal(precondition.violations[0].subject, "workspace/x");
    });

    test("HEAD is answered like GET, without a body", async () => {
      const reply = await send({ method: "HEAD", path: "/v1/whoami" });
      assert.equal(reply.status, 401);
      assert.equal(reply.headers["content-type"], "application/json");
      assert.equal(reply.body.length, 0);
    });

    test("a stream that cannot begin is an envelope, not an event", async () => {
      const nobody = '{"agentId":{"workspace":"default","agent":["nobody"]}}';
      assertFault(await send(post("/v1/agent/watch", nobody), server.adminKey), [404, 5, "AGENT_NOT_FOUND"]);
      assertFault(await send(post("/v1/agent/watch", "{"), server.adminKey), [400, 3, "MALFORMED_REQUEST"]);
      assertFault(await send(post("/v1/agent/watch", nobody)), [401, 16, "INVALID_KEY"]);
    });

    test("who has no key learns nothing about their request", async () => {
      for (const [sentence, request, [, , reason]] of BODIES) {
        // What is too large or of another type is not read, whoever sends it.
        if (reason === "REQUEST_TOO_LARGE" || reason === "UNSUPPORTED_MEDIA_TYPE") continue;
        const reply = await send(request);
        assert.equal(reply.status, 401, sentence);
        assertFault(reply, [401, 16, "INVALID_KEY"]);
      }
    });

    test("a Last-Event-ID that is none of ours is refused", async () => {
      const request = post("/v1/agent/watch", "{}", { ...JSON_TYPE, "last-event-id": "yesterday" });
      assertFault(await send(request, server.adminKey), [400, 3, "INVALID_FIELD", /Last-Event-ID/]);
    });
  });
}

/** What one writes on a bare connection, answered in whole. */
function rawExchange(bytes: string): Promise<string> {
  const { port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = net.connect(Number(port), "127.0.0.1", () => socket.write(bytes, "latin1"));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
  });
}

describe("a service that there is not", () => {
  test("is UNIMPLEMENTED to a client of gRPC", async () => {
    const client = openGrpcJs(server.url, grpc.credentials.createInsecure());
    const error = await new Promise<grpc.ServiceError | null>((resolve) => {
      const same = (bytes: Buffer) => bytes;
      client.makeUnaryRequest("/no.such.Service/Do", same, same, Buffer.from("x"), resolve);
    });
    assert.equal(error?.code, grpc.status.UNIMPLEMENTED, String(error));
    assert.match(error?.details ?? "", /\/no\.such\.Service\/Do/);
  });

  for (const version of ["1.1", "2"] as const) {
    test(`is UNIMPLEMENTED in the header over HTTP/${version}, for gRPC-Web too`, async () => {
      const headers = { "content-type": "application/grpc-web+proto" };
      const request = { method: "POST", path: "/no.such.Service/Do", headers, body: "x" };
      const reply = await exchange(server.url, version, request);
      assert.deepEqual([reply.status, reply.headers["grpc-status"], reply.body.length], [200, "12", 0]);
    });
  }
});

describe("what HTTP/1.1 itself finds wrong is the envelope too", () => {
  const head = "GET /v1/whoami HTTP/1.1\r\n";
  const rows: readonly (readonly [sentence: string, bytes: string])[] = [
    ["a request without Host", `${head}connection: close\r\n\r\n`],
    ["a header without a name", `${head}host: x\r\n: y\r\n\r\n`],
    ["a header with a control character", `${head}host: x\r\ny: \x01\r\n\r\n`],
    ["headers of more than 16 KiB", `${head}host: x\r\ny: ${"y".repeat(17 * 1024)}\r\n\r\n`],
    ["a path of more than 16 KiB", `GET /v1/${"y".repeat(17 * 1024)} HTTP/1.1\r\nhost: x\r\n\r\n`],
    ["a method that is none", "NOPE /v1/whoami HTTP/1.1\r\nhost: x\r\n\r\n"],
    [
      "two lengths",
      "POST /v1/agents HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
    ],
    [
      "a length and chunks, as smugglers send them",
      "POST /v1/agents HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a version that is none", "GET /v1/whoami HTTP/9.9\r\nhost: x\r\n\r\n"],
  ];
  for (const [sentence, bytes] of rows) {
    test(`${sentence}: 400 with the envelope, MALFORMED_REQUEST`, async () => {
      const answer = await rawExchange(bytes);
      assert.match(answer, /^HTTP\/1\.1 400 /);
      const type = /\r\ncontent-type: ([^\r]*)\r\n/i.exec(answer)?.[1];
      const body = answer.slice(answer.indexOf("\r\n\r\n") + 4);
      const unchunked = body.replace(/^[0-9a-f]+\r\n(.*)\r\n0\r\n\r\n$/is, "$1");
      const envelope = assertEnvelope(400, type, unchunked);
      assert.deepEqual([envelope.code, reasonOf(envelope)], [3, "MALFORMED_REQUEST"]);
    });
  }
});

describe("a bug", () => {
  test("is INTERNAL: the log has it whole, the caller learns nothing", async () => {
    const broken = await startServer();
    // From another process: a file of SQLite that is closed here would give up the server's locks.
    const script =
      "new (require('better-sqlite3'))(process.argv[1]).exec('ALTER TABLE audit RENAME TO gone')";
    execFileSync(process.execPath, ["-e", script, join(broken.dataDir, "retinue.db")], {
      cwd: new URL("../../../", import.meta.url),
    });
    for (const version of ["1.1", "2"] as const) {
      const headers = { authorization: `Bearer ${broken.adminKey}` };
      const reply = await exchange(broken.url, version, { path: "/v1/audit", headers });
      assertFault(reply, [500, 13, "INTERNAL", /^internal error$/]);
      assert.doesNotMatch(reply.body.toString(), /sql|audit|table/i);
    }
    assert.match(broken.logged.join(""), /no such table: audit/);
    const whoami = await exchange(broken.url, "1.1", {
      path: "/v1/whoami",
      headers: { authorization: `Bearer ${broken.adminKey}` },
    });
    assert.equal(whoami.status, 200, "the server goes on");
  });
});
