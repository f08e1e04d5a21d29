import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fastify } from "fastify";
import { registerGateway } from "../../../src/transport/gateway/index.js";
import { resolveRoutes } from "../../../src/transport/gateway/rule.js";
import { realRpcs } from "./fixture.js";
import { type HttpRuleInit, probeRpc } from "./probe.js";

const get = (value: string) => ({ pattern: { case: "get", value } }) as const;
const post = (value: string) => ({ pattern: { case: "post", value } }) as const;

describe("the rules", () => {
  it("of all real services resolve, one route each", () => {
    const routes = resolveRoutes(realRpcs()).map((r) => `${r.httpMethod} ${r.template.text} ${r.rpc.action}`);
    assert.ok(routes.includes("GET /v1/whoami IdentityService/Whoami"));
    assert.ok(routes.includes("DELETE /v1/catalog/{ref.kind}/{ref.name} CatalogService/DeleteResource"));
    assert.equal(routes.length, realRpcs().length);
  });

  it("resolve to fields of the request", () => {
    const [route] = resolveRoutes([probeRpc("Get", { ...post("/v1/{inner.text}/{color}"), body: "inner" })]);
    assert.deepEqual(
      route?.variables.map(({ jsonPath }) => jsonPath),
      ["inner.text", "color"],
    );
    assert.equal(typeof route?.body === "object" && route.body.name, "inner");
  });

  it("may have additional bindings", () => {
    const rule = {
      ...get("/v1/a/{name}"),
      additionalBindings: [get("/v1/b"), { ...post("/v1/a/{name}"), body: "*" }],
    };
    const routes = resolveRoutes([probeRpc("Get", rule)]);
    assert.deepEqual(
      routes.map((route) => `${route.httpMethod} ${route.template.text} ${String(route.body)}`),
      ["GET /v1/a/{name} none", "GET /v1/b none", "POST /v1/a/{name} request"],
    );
  });

  const refused: [sentence: string, rule: HttpRuleInit, message: RegExp][] = [
    ["a rule without a method", {}, /names no HTTP method/],
    [
      "a custom method",
      { pattern: { case: "custom", value: { kind: "SEARCH", path: "/v1/x" } } },
      /'SEARCH' is not served/,
    ],
    ["a path outside of /v1", get("/v2/x"), /does not begin with '\/v1\/'/],
    ["a template that cannot be read", get("/v1/{name=**}"), /path template '\/v1\/\{name=\*\*\}'/],
    ["an unknown field in the path", get("/v1/{nam}"), /probe\.Probe has no field 'nam'/],
    ["an unknown field below a message", get("/v1/{inner.nam}"), /probe\.Inner has no field 'nam'/],
    ["a JSON name in the path", get("/v1/{leftHand}"), /has no field 'leftHand'/],
    ["a path through a string", get("/v1/{name.x}"), /'name' of 'name\.x' is not a single message/],
    ["a path through a list", get("/v1/{inners.text}"), /is not a single message/],
    ["a message in the path", get("/v1/{inner}"), /'inner' is not a single string, integer or enum/],
    ["a list in the path", get("/v1/{tags}"), /'tags' is not a single/],
    ["bytes in the path", get("/v1/{data}"), /'data' is not a single/],
    ["a boolean in the path", get("/v1/{flag}"), /'flag' is not a single/],
    ["a member of a oneof in the path", get("/v1/{left_hand}"), /'left_hand' is not a single/],
    ["the same field twice in the path", get("/v1/{name}/{name}"), /names a field twice/],
    ["a GET with a body", { ...get("/v1/x"), body: "*" }, /a GET has no body/],
    ["a body that is no field", { ...post("/v1/x"), body: "bodi" }, /body 'bodi' is not a single message/],
    ["a body that is a string", { ...post("/v1/x"), body: "name" }, /body 'name' is not a single message/],
    [
      "a response that is no field",
      { ...get("/v1/x"), responseBody: "nam" },
      /response_body 'nam' is not a single message of probe\.Probe/,
    ],
    [
      "a response that is a list",
      { ...get("/v1/x"), responseBody: "inners" },
      /'inners' is not a single message/,
    ],
    ["a response that is a time", { ...get("/v1/x"), responseBody: "at" }, /'at' is not a single message/],
    ["a selector", { ...get("/v1/x"), selector: "a.b" }, /selector/],
    [
      "nested additional bindings",
      { ...get("/v1/x"), additionalBindings: [{ ...get("/v1/y"), additionalBindings: [get("/v1/z")] }] },
      /additional_bindings are nested/,
    ],
    [
      "an additional binding that is wrong",
      { ...get("/v1/x"), additionalBindings: [get("/v1/{nam}")] },
      /no field 'nam'/,
    ],
  ];
  for (const [sentence, rule, message] of refused) {
    it(`refuse ${sentence}, naming the RPC`, () => {
      assert.throws(
        () => resolveRoutes([probeRpc("Broken", rule)]),
        (error: Error) => {
          assert.match(error.message, /^ProbeService\/Broken: \(google\.api\.http\): /);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }

  it("refuse two RPCs that the same requests would reach, naming both", () => {
    const rpcs = [probeRpc("One", get("/v1/{name}/x")), probeRpc("Two", get("/v1/{inner.text=*}/x"))];
    assert.throws(() => resolveRoutes(rpcs), {
      message: "ProbeService/Two and ProbeService/One have the same HTTP rule: GET /v1/*/x",
    });
  });

  it("let two RPCs share a path under different methods", () => {
    assert.equal(
      resolveRoutes([probeRpc("One", get("/v1/{name}")), probeRpc("Two", post("/v1/{color}"))]).length,
      2,
    );
  });

  it("are refused before anything is served", () => {
    const call = { unary: () => assert.fail(), stream: () => assert.fail() };
    const register = () => registerGateway(fastify(), [probeRpc("Broken", get("/v1/**"))], call);
    assert.throws(register, /^Error: ProbeService\/Broken: /);
  });
});
