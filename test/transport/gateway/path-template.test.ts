import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  matchesPath,
  parsePathTemplate,
  routerPath,
  shapeOf,
} from "../../../src/transport/gateway/path-template.js";

describe("a path template", () => {
  const rows: [text: string, router: string, shape: string][] = [
    ["/v1/whoami", "/v1/whoami", "/v1/whoami"],
    ["/v1/agent/clear-follow-ups", "/v1/agent/clear-follow-ups", "/v1/agent/clear-follow-ups"],
    ["/v1/catalog/{ref.kind}/{ref.name}/history", "/v1/catalog/:v0/:v1/history", "/v1/catalog/*/*/history"],
    ["/v1/{name=*}", "/v1/:v0", "/v1/*"],
  ];
  for (const [text, router, shape] of rows) {
    it(`'${text}' becomes a route`, () => {
      const template = parsePathTemplate(text);
      assert.equal(routerPath(template), router);
      assert.equal(shapeOf(template), shape);
    });
  }

  it("names the fields of its variables", () => {
    assert.deepEqual(parsePathTemplate("/v1/{ref.kind}/x/{deep_er.na_me=*}").segments, [
      { kind: "literal", text: "v1" },
      { kind: "variable", text: "ref.kind" },
      { kind: "literal", text: "x" },
      { kind: "variable", text: "deep_er.na_me" },
    ]);
  });

  const refused = [
    "",
    "/",
    "v1/whoami",
    "/v1//x",
    "/v1/",
    "/v1/*",
    "/v1/**",
    "/v1/{name=**}",
    "/v1/{name=agents/*}",
    "/v1/{name",
    "/v1/{}",
    "/v1/{name.}",
    "/v1/{a}{b}",
    "/v1/pre{name}",
    "/v1/agents:run",
    "/v1/{name}:run",
    "/v1/x?y",
    "/v1/%41",
  ];
  for (const text of refused) {
    it(`'${text}' is refused`, () => {
      assert.throws(() => parsePathTemplate(text), {
        message: /^path template '.*': cannot read '.*'; only literals, \{field\.path\}/,
      });
    });
  }

  it("matches what has its literals in their places", () => {
    const template = parsePathTemplate("/v1/catalog/{ref.kind}/history");
    assert.equal(matchesPath(template, ["v1", "catalog", "any thing", "history"]), true);
    assert.equal(matchesPath(template, ["v1", "catalog", "x", "histories"]), false);
    assert.equal(matchesPath(template, ["v1", "catalog", "x"]), false);
    assert.equal(matchesPath(template, ["v1", "catalog", "x", "history", "y"]), false);
  });
});
