import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { createSchemas, type Schemas } from "../../src/schemas/schemas.js";
import { cleanUp } from "../support/cleanup.js";

let schemas: Schemas;
before(() => {
  schemas = createSchemas();
  cleanUp(() => schemas.close());
});

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

describe("a schema that can be used", () => {
  const rows: readonly [string, object][] = [
    ["an empty one", {}],
    ["one that names its dialect", { $schema: DIALECT, type: "object" }],
    [
      "references within itself",
      { $defs: { a: { type: "string" } }, properties: { a: { $ref: "#/$defs/a" } } },
    ],
    ["anchors, and an ID of its own", { $id: "http://a/b", $defs: { c: { $anchor: "z" } }, $ref: "#z" }],
    ["words and formats that nobody knows: they are annotations", { "x-note": 1, format: "colour" }],
    ["2020-12: prefixItems, dependentRequired", { prefixItems: [{}], dependentRequired: { a: ["b"] } }],
  ];
  for (const [sentence, schema] of rows) {
    test(sentence, async () => assert.equal(await schemas.check(JSON.stringify(schema)), undefined));
  }
});

describe("a schema that is refused, with the pointer", () => {
  const rows: readonly [string, unknown, RegExp][] = [
    ["a type that is none", { properties: { a: { type: "x" } } }, /^\/properties\/a\/type: .*"integer"/],
    ["a reference that leads out", { items: { $ref: "http://x/y" } }, /^\/items\/\$ref: .*self-contained/],
    ["a reference that leads nowhere", { items: { $ref: "#/$defs/q" } }, /^\/items\/\$ref: /],
    ["a pattern that is none", { properties: { "a/b": { pattern: "(" } } }, /^\/properties\/a~1b\/pattern: /],
    [
      "a pattern of properties that is none",
      { patternProperties: { "(": {} } },
      /^\/patternProperties\/\(: /,
    ],
    ["another dialect", { $schema: "http://json-schema.org/draft-07/schema#" }, /^\/\$schema: must be/],
    ["the library's own word for promises", { $async: true }, /^\/\$async: /],
    ["a list", [], /^must be a JSON object/],
    ["null", null, /^must be a JSON object/],
  ];
  for (const [sentence, schema, text] of rows) {
    test(sentence, async () => assert.match((await schemas.check(JSON.stringify(schema))) ?? "", text));
  }
  test("what is no JSON", async () => assert.match((await schemas.check("{")) ?? "", /^is not JSON/));
  test("nesting that no stack can hold is an answer, not a crash", async () => {
    const deep = `${`{"not":`.repeat(9000)}{}${"}".repeat(9000)}`;
    assert.notEqual(await schemas.check(deep), undefined);
    assert.equal(await schemas.check("{}"), undefined, "and the next question is answered");
  });
});

describe("a value", () => {
  const schema = JSON.stringify({
    type: "object",
    required: ["n"],
    properties: { n: { type: "integer" }, c: { enum: ["red", "blue"] } },
    additionalProperties: false,
  });
  const rows: readonly [string, object, RegExp | undefined][] = [
    ["fits", { n: 1, c: "red" }, undefined],
    ["lacks what is required", {}, /required property 'n'/],
    ["has a wrong type: the pointer says where", { n: "1" }, /^\/n: must be integer/],
    ["is none of the values: they are named", { n: 1, c: "pink" }, /^\/c: .*"red", "blue"/],
    ["has something extra: it is named", { n: 1, x: 2 }, /additional properties: "x"/],
  ];
  for (const [sentence, value, text] of rows) {
    test(sentence, async () => {
      const violation = await schemas.validate(schema, value as never);
      if (text === undefined) assert.equal(violation, undefined);
      else assert.match(violation ?? "", text);
    });
  }
  test("of a schema that refers to itself without end is an answer", async () => {
    assert.match((await schemas.validate('{"$ref": "#"}', 1)) ?? "", /cannot be validated/);
  });
});

test("a runaway pattern ends with its thread and holds up nobody", async () => {
  const hasty = createSchemas({ limitMs: 300 });
  cleanUp(() => hasty.close());
  const runaway = JSON.stringify({ pattern: "^(a+)+$" });
  const endless = hasty.validate(runaway, `${"a".repeat(60)}!`);
  assert.equal(await hasty.check("{}"), undefined, "beside it");
  assert.match((await endless) ?? "", /takes longer than 0.3 s/);
  assert.equal(await hasty.validate(runaway, "aa"), undefined, "after it");
});

test("too many questions at once are put off, and the others answered", async () => {
  const asked = await Promise.allSettled(Array.from({ length: 100 }, () => schemas.check("{}")));
  const refused = asked.filter((answer) => answer.status === "rejected");
  assert.ok(refused.length > 0);
  for (const { reason } of refused as PromiseRejectedResult[]) assert.equal(reason.reason, "SCHEMAS_BUSY");
});
