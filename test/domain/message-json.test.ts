import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type DescMessage, equals, fromJson, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { Code } from "../../gen/google/rpc/code_pb.js";
import { QueueFollowUpRequestSchema, StopTurnRequestSchema } from "../../gen/retinue/v1/agent_service_pb.js";
import { Fault } from "../../src/domain/fault.js";
import { messageFromJson } from "../../src/domain/message-json.js";
import { ProbeSchema, SpecialSchema } from "../transport/gateway/probe.js";
import { ALL_MESSAGES, randomOf, sampleMessage } from "../transport/gateway/sample.js";

function faultOf(schema: DescMessage, json: JsonValue, at?: string): Fault {
  try {
    messageFromJson(schema, json, at);
  } catch (error) {
    assert.ok(error instanceof Fault, `not a fault: ${String(error)}`);
    assert.equal(error.code, Code.INVALID_ARGUMENT);
    return error;
  }
  assert.fail("it was accepted");
}

describe("messageFromJson accepts", () => {
  for (const desc of ALL_MESSAGES) {
    it(`every ${desc.typeName} that protobuf-es writes, and reads it back`, () => {
      const random = randomOf(2);
      for (let i = 0; i < 50; i++) {
        const message = sampleMessage(desc, random);
        const read = messageFromJson(desc, toJson(desc, message));
        assert.ok(equals(desc, read, message), JSON.stringify(toJson(desc, message)));
      }
    });
  }

  const rows: [sentence: string, json: JsonValue][] = [
    ["proto names as well as JSON names", { left_hand: "x" }],
    ["a 64-bit integer as a number", { big: 9007199254740991, maybe: -5 }],
    ["a 64-bit integer as a string", { big: "9223372036854775807", unsigned: "18446744073709551615" }],
    ["a 32-bit integer as a string", { small: "-7" }],
    ["a whole number with a fraction of zero", { small: 3.0, big: 1e3 }],
    ["an enum by name", { color: "COLOR_RED", colors: ["COLOR_RED", "COLOR_UNSPECIFIED"] }],
    ["an enum by a number that is known", { color: 1 }],
    ["null as not given", { name: null, inner: null, tags: null, labels: null, maybe: null, leftHand: null }],
    ["null where it is a value", { anything: null }],
    ["an optional field that is zero as set", { maybe: "0" }],
    ["special doubles", { ratio: "-Infinity", narrow: "NaN" }],
    ["a double as text", { ratio: "1.5e3" }],
    ["URL-safe base64 without padding", { data: "-_8" }],
    ["a time with an offset", { at: "2026-11-15T09:30:00.5+02:00" }],
    ["deep values", { anything: nested(99) }],
  ];
  for (const [sentence, json] of rows) {
    it(sentence, () => {
      const expected = fromJson(ProbeSchema, json, { recursionLimit: 1000 });
      assert.deepEqual(messageFromJson(ProbeSchema, json), expected);
    });
  }

  it("bytes as a plain Uint8Array", () => {
    const { data } = messageFromJson(ProbeSchema, { data: "AQID" }) as Message & { data: Uint8Array };
    assert.equal(Object.getPrototypeOf(data), Uint8Array.prototype);
    assert.deepEqual([...data], [1, 2, 3]);
  });
});

function nested(levels: number): JsonValue {
  return levels === 0 ? "bottom" : [nested(levels - 1)];
}

describe("messageFromJson refuses", () => {
  const colors = "allowed: COLOR_UNSPECIFIED, COLOR_RED";
  const rows: [sentence: string, json: JsonValue, field: string, description: string | RegExp][] = [
    [
      "an unknown field",
      { inner: { txt: "" } },
      "inner.txt",
      "unknown field; known fields: color, count, text",
    ],
    ["an unknown field in a list", { inners: [{}, { x: 1 }] }, "inners[1].x", /^unknown field/],
    ["an unknown field whose name is odd", { "a b": 1 }, '"a b"', /^unknown field/],
    ["__proto__", JSON.parse('{"__proto__":{}}') as JsonValue, "__proto__", /^unknown field/],
    ["an unknown enum name", { color: "COLOR_BLEU" }, "color", `unknown value "COLOR_BLEU"; ${colors}`],
    [
      "an enum name of a list",
      { colors: ["COLOR_RED", "red"] },
      "colors[1]",
      `unknown value "red"; ${colors}`,
    ],
    ["an unknown enum number", { color: 2 }, "color", `unknown value 2; ${colors}`],
    ["an enum of another type", { color: true }, "color", `must be a string, not true; ${colors}`],
    ["an inherited name as enum", { color: "toString" }, "color", /^unknown value/],
    ["a number beyond 2^53", { big: 9007199254740992 }, "big", /beyond 2\^53 .* send it as a string/],
    ["a negative number beyond 2^53", { maybe: -9007199254740992 }, "maybe", /beyond 2\^53/],
    ["a string beyond 64 bits", { big: "9223372036854775808" }, "big", /is out of range: from -9223/],
    ["a negative unsigned integer", { unsigned: "-1" }, "unsigned", /is out of range: from 0/],
    ["an integer beyond 32 bits", { small: 2147483648 }, "small", /is out of range/],
    ["a fraction as integer", { small: 1.5 }, "small", "must be a 32-bit integer, not 1.5"],
    ["hexadecimal", { big: "0x10" }, "big", 'must be a 64-bit integer, not "0x10"'],
    ["an empty string as integer", { big: "" }, "big", 'must be a 64-bit integer, not ""'],
    ["a string as boolean", { flag: "true" }, "flag", 'must be true or false, not "true"'],
    ["a number as string", { name: 1 }, "name", "must be a string, not a number"],
    ["half a surrogate pair", { name: "\ud800" }, "name", /surrogate/],
    ["a string as list", { tags: "a" }, "tags", "must be an array, not a string"],
    ["a list as message", { inner: [] }, "inner", "must be an object, not an array"],
    ["null in a list", { tags: ["a", null] }, "tags[1]", "must be a string, not null"],
    ["a map value of another type", { labels: { env: 1 } }, "labels.env", "must be a string, not a number"],
    ["a map key that needs quotes", { labels: { "a.b": 1 } }, 'labels["a.b"]', /must be a string/],
    [
      "__proto__ in a map",
      { labels: JSON.parse('{"__proto__":"x"}') as JsonValue },
      "labels.__proto__",
      /key/,
    ],
    ["what is not base64", { data: "a*b=" }, "data", "must be a base64 string"],
    ["base64 of an impossible length", { data: "AAAAA" }, "data", "must be a base64 string"],
    ["a time without a zone", { at: "2026-11-15T09:30:00" }, "at", /RFC 3339.*not "2026/],
    ["a day that does not exist", { at: "2026-02-30T00:00:00Z" }, "at", /RFC 3339/],
    ["a number as time", { at: 1 }, "at", /RFC 3339.*, not 1$/],
    [
      "a duration with a wrong unit",
      { lasting: "5min" },
      "lasting",
      'must be seconds like "90s" or "1.5s", not "5min"',
    ],
    ["a duration with something behind it", { lasting: "5s5" }, "lasting", /must be seconds/],
    ["a duration beyond ten thousand years", { lasting: "400000000000s" }, "lasting", /Duration/],
    ["a mask in snake case", { mask: "a_b" }, "mask", /lowerCamelCase/],
    ["text as a double", { ratio: "much" }, "ratio", 'must be a number, not "much"'],
    ["a double too large for a float", { narrow: 1e300 }, "narrow", /must be a number/],
    ["both names of a field", { leftHand: "a", left_hand: "b" }, "left_hand", /together with leftHand/],
    [
      "two of a oneof",
      { leftHand: "a", rightHand: {} },
      "rightHand",
      "cannot be given together with leftHand",
    ],
  ];
  for (const [sentence, json, field, description] of rows) {
    it(sentence, () => {
      const fault = faultOf(ProbeSchema, json);
      assert.equal(fault.reason, "INVALID_FIELD");
      const violation = fault.details.violations?.[0];
      assert.equal(violation?.field, field);
      if (typeof description === "string") assert.equal(violation?.description, description);
      else assert.match(violation?.description ?? "", description);
      assert.ok(fault.message.startsWith(`${field}: `), fault.message);
    });
  }

  it("and says the same sentence to everybody", () => {
    const { message } = faultOf(QueueFollowUpRequestSchema, { agentId: { tenantt: {} } });
    const known = "account, agent, ownerProvider, tenant, uid, workspace";
    assert.equal(message, `agentId.tenantt: unknown field; known fields: ${known}`);
  });

  it("and names all that is wrong, up to ten", () => {
    const wrong = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`x${i}`, 1]));
    assert.deepEqual(
      faultOf(StopTurnRequestSchema, { runId: "one", mode: "STOP" }).details.violations?.map((v) => v.field),
      ["runId", "mode"],
    );
    assert.equal(faultOf(StopTurnRequestSchema, wrong).details.violations?.length, 10);
  });

  it("and puts the prefix before every path", () => {
    const fault = faultOf(ProbeSchema, { inner: { x: 1 }, tagz: [] }, "payload");
    assert.deepEqual(
      fault.details.violations?.map((v) => v.field),
      ["payload.inner.x", "payload.tagz"],
    );
  });

  it("what is no object", () => {
    const fault = faultOf(ProbeSchema, []);
    assert.equal(fault.reason, "MALFORMED_REQUEST");
    assert.equal(fault.message, "the request must be a JSON object, not an array");
    assert.equal(faultOf(ProbeSchema, null, "payload").message, "payload: must be a JSON object, not null");
  });

  it("what only the library can judge, at the message that holds it", () => {
    const fault = faultOf(SpecialSchema, { wrapped: 5 }, "payload");
    assert.deepEqual(
      fault.details.violations?.map((v) => v.field),
      ["payload"],
    );
    assert.match(fault.message, /Special.*wrapped|StringValue/);
    assert.equal(faultOf(SpecialSchema, { wrapped: 5 }).reason, "MALFORMED_REQUEST");
    assert.equal(faultOf(SpecialSchema, { name: 5, wrapped: 5 }).details.violations?.[0]?.field, "name");
  });
});
