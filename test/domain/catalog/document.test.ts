import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type DescMessage, fromJson, type Message, toJson } from "@bufbuild/protobuf";
import { StructSchema, timestampFromMs } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { MetaSchema, TokenSchema, WorkspaceSchema } from "../../../gen/retinue/v1/catalog_pb.js";
import { SettingSource, SettingsSchema } from "../../../gen/retinue/v1/settings_pb.js";
import {
  assemblePayload,
  canonicalJson,
  checkDocument,
  DOCUMENT_MAX_BYTES,
  parseDocument,
  stripServerSet,
  timestampText,
} from "../../../src/domain/catalog/document.js";
import type { Document, Kind } from "../../../src/domain/catalog/kind.js";
import { changeRequest } from "../../../src/domain/catalog/kinds/change-request.js";
import { KINDS } from "../../../src/domain/catalog/kinds/index.js";
import { persona } from "../../../src/domain/catalog/kinds/persona.js";
import { token } from "../../../src/domain/catalog/kinds/token.js";
import { workspace } from "../../../src/domain/catalog/kinds/workspace.js";
import { faultOf, invalidAt } from "../fault-of.js";
import { arbitraryMessage } from "./arbitrary-message.js";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (payload: Uint8Array) => new TextDecoder().decode(payload);

test("a payload is read into the message of its kind", () => {
  const document = parseDocument(
    workspace,
    bytes('{"displayName":"Main","repos":[{"name":"a","url":"/a"}]}'),
  );
  assert.equal(document.displayName, "Main");
  assert.equal(document.repos[0]?.url, "/a");
});

test("a payload of exactly the limit is read, with a byte order mark or without", () => {
  const padded = `{"agent":"a"}${" ".repeat(DOCUMENT_MAX_BYTES - 13)}`;
  assert.equal(parseDocument(workspace, bytes(padded)).agent, "a");
  assert.equal(parseDocument(workspace, bytes('\ufeff{"agent":"a"}')).agent, "a");
});

const unreadable = [
  [bytes(""), "payload", "required", "nothing"],
  [
    bytes(`{}${" ".repeat(DOCUMENT_MAX_BYTES)}`),
    "payload",
    "at most 256 KiB, this one has 262146 bytes",
    "too much",
  ],
  [new Uint8Array([0x22, 0xff, 0x22]), "payload", "not UTF-8", "bytes that are not UTF-8"],
  [bytes("name: main"), "payload", "not JSON", "YAML"],
  [bytes("{"), "payload", "not JSON", "half a document"],
  [bytes("[]"), "payload", "must be a JSON object", "a list"],
  [bytes("null"), "payload", "must be a JSON object", "null"],
  [bytes('"a"'), "payload", "must be a JSON object", "a string"],
  [bytes(`{"repos":${"[".repeat(100)}${"]".repeat(100)}}`), "payload", "more than 100 levels", "too deep"],
  [
    bytes(`{"repos":${"[".repeat(50_000)}${"]".repeat(50_000)}}`),
    "payload",
    "more than 100 levels",
    "far too deep",
  ],
  [bytes('{"displayNam":"x"}'), "payload.displayNam", "", "an unknown field"],
  [bytes('{"repos":[{},{"ulr":"x"}]}'), "payload.repos[1].ulr", "", "an unknown field further down"],
  [bytes('{"agent":"a","agent":"b"}'), "payload.agent", "given twice", "a name that comes twice"],
  [
    bytes('{"repos":[{},{"url":"/a","u\\u0072l":"/b"}]}'),
    "payload.repos[1].url",
    "given twice",
    "a name that comes twice, once in disguise",
  ],
  [bytes('{"__proto__":{}}'), "payload.__proto__", "", "a field that JavaScript objects have anyway"],
  [bytes('{"repos":{}}'), "payload.repos", "", "an object where a list belongs"],
  [bytes('{"agent":7}'), "payload.agent", "", "a number where a string belongs"],
  [
    bytes('{"settings":{"fastMode":"yes"}}'),
    "payload.settings.fastMode",
    "",
    "a string where a bool belongs",
  ],
] as const;

for (const [payload, field, says, sentence] of unreadable) {
  test(`a payload may not be ${sentence}`, () => {
    const said = invalidAt(field, () => parseDocument(workspace, payload));
    assert.ok(said.includes(says) && said.length < 500, said);
  });
}

test("a hundred levels are not too many", () => {
  const json = `{"repos":${"[".repeat(99)}${"]".repeat(99)}}`;
  assert.doesNotMatch(faultOf(() => parseDocument(workspace, bytes(json))).message, /levels/);
});

test("server-set fields are taken from the version before, whatever was sent", () => {
  const sent = create(TokenSchema, {
    meta: { createdBy: "me" },
    displayName: "new",
    keyId: "forged",
    key: "forged",
    lastUsedAt: timestampFromMs(1),
  });
  const before = create(TokenSchema, { displayName: "old", keyId: "real", lastUsedAt: timestampFromMs(2) });
  const stripped = stripServerSet(token, sent, before);
  assert.deepEqual(
    stripped,
    create(TokenSchema, { displayName: "new", keyId: "real", lastUsedAt: timestampFromMs(2) }),
  );
  assert.notEqual(stripped.lastUsedAt, before.lastUsedAt);
  assert.equal(sent.keyId, "forged");
});

test("server-set fields of a new document are empty", () => {
  const sent = create(TokenSchema, { meta: {}, role: "viewer", keyId: "forged", key: "forged" });
  assert.deepEqual(stripServerSet(token, sent, undefined), create(TokenSchema, { role: "viewer" }));
});

test("a kind without server-set fields loses its meta only", () => {
  const sent = create(WorkspaceSchema, { meta: { createdBy: "me" }, agent: "a" });
  assert.deepEqual(stripServerSet(workspace, sent, undefined), create(WorkspaceSchema, { agent: "a" }));
  assert.equal(sent.meta?.createdBy, "me");
});

test("a document that breaks rules is refused with all of them, below `payload`", () => {
  const document = create(WorkspaceSchema, { agent: "A", repos: [{ name: "a", url: "ftp://x" }] });
  const fault = faultOf(() => checkDocument(workspace, document));
  assert.deepEqual(
    fault.details.violations?.map((violation) => violation.field),
    ["payload.repos[0].url", "payload.agent"],
  );
  checkDocument(workspace, create(WorkspaceSchema));
});

test("a document that breaks very many rules is told of the first", () => {
  const repos = Array.from({ length: 5000 }, () => ({ name: "A", url: "/a" }));
  const fault = faultOf(() => checkDocument(workspace, create(WorkspaceSchema, { repos })));
  assert.equal(fault.details.violations?.length, 21);
  assert.match(fault.details.violations.at(-1)?.description ?? "", /^\d+ more fields are wrong$/);
  assert.ok(fault.message.length < 10_000);
});

test("the stored form has no meta, and fields in the order of their numbers", () => {
  const document = fromJson(WorkspaceSchema, {
    settings: { fastMode: false, model: "o3" },
    agent: "a",
    displayName: "x",
    meta: { createdBy: "me" },
  });
  assert.equal(
    canonicalJson(workspace, document),
    '{"displayName":"x","agent":"a","settings":{"model":"o3","fastMode":false}}',
  );
  assert.equal(document.meta?.createdBy, "me");
  assert.equal(canonicalJson(workspace, create(WorkspaceSchema)), "{}");
});

test("the stored form has its map keys in order, so that equal documents are equal texts", () => {
  const { DEFAULT, SPAWN } = SettingSource;
  const kind = { schema: SettingsSchema } as unknown as Kind;
  const one = create(SettingsSchema, { model: "m", sources: { model: SPAWN, agent: DEFAULT, "10": SPAWN } });
  const other = create(SettingsSchema, {
    model: "m",
    sources: { "10": SPAWN, agent: DEFAULT, model: SPAWN },
  });
  const expected =
    '{"model":"m","sources":{"10":"SETTING_SOURCE_SPAWN","agent":"SETTING_SOURCE_DEFAULT","model":"SETTING_SOURCE_SPAWN"}}';
  assert.equal(canonicalJson(kind, one), expected);
  assert.equal(canonicalJson(kind, other), expected);
});

test("free-form JSON is put in order all the way down; lists keep theirs", () => {
  const kind = { schema: StructSchema } as unknown as Kind;
  const struct = fromJson(StructSchema, { b: [{ d: 1, c: [2, 1] }], a: null });
  assert.equal(canonicalJson(kind, struct), '{"a":null,"b":[{"c":[2,1],"d":1}]}');
});

test("patches cannot make a document larger than the limit", () => {
  const document = parseDocument(persona, bytes(JSON.stringify({ instructions: "x".repeat(200_000) })));
  document.outputSchema = "y".repeat(DOCUMENT_MAX_BYTES - 200_000 - 37);
  assert.equal(canonicalJson(persona, document).length, DOCUMENT_MAX_BYTES);
  document.outputSchema += "y";
  assert.match(
    invalidAt("payload", () => canonicalJson(persona, document)),
    /at most 256 KiB/,
  );
});

test("a change request may hold the largest payload, in base64", () => {
  const record = create(changeRequest.schema, { payload: new Uint8Array(DOCUMENT_MAX_BYTES) });
  assert.ok(canonicalJson(changeRequest, record).length > DOCUMENT_MAX_BYTES);
});

const metas = [
  [undefined, "", "no meta for a builtin"],
  [
    { createdAtMs: 0, createdBy: "system", updatedAtMs: 1_700_000_000_123, updatedBy: 'a/"b\\' },
    String.raw`"meta":{"createdAt":"1970-01-01T00:00:00Z","createdBy":"system","updatedAt":"2023-11-14T22:13:20.123Z","updatedBy":"a/\"b\\"}`,
    "milliseconds only where there are any, names escaped",
  ],
  [
    { createdAtMs: 10, createdBy: "", updatedAtMs: 20, updatedBy: "" },
    '"meta":{"createdAt":"1970-01-01T00:00:00.010Z","updatedAt":"1970-01-01T00:00:00.020Z"}',
    "nothing where nobody is known",
  ],
] as const;

for (const [meta, json, sentence] of metas) {
  test(`an assembled payload shows ${sentence}`, () => {
    const comma = json === "" ? "" : ",";
    assert.equal(text(assemblePayload("{}", meta)), `{${json}}`);
    assert.equal(text(assemblePayload('{"agent":"a"}', meta)), `{${json}${comma}"agent":"a"}`);
    assert.equal(text(assemblePayload("{}", meta, { key: 'k"' })), String.raw`{${json}${comma}"key":"k\""}`);
    assert.equal(
      text(assemblePayload('{"agent":"a"}', meta, { key: "k", url: "ü" })),
      `{${json}${comma}"agent":"a","key":"k","url":"ü"}`,
    );
  });
}

test("times are written as protobuf-es writes them", () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (ms) => {
      const meta = create(MetaSchema, { createdAt: timestampFromMs(ms) });
      assert.deepEqual(toJson(MetaSchema, meta), { createdAt: timestampText(ms) });
    }),
  );
});

for (const kind of KINDS.values()) {
  test(`an assembled ${kind.name} is the message with its meta, and can be sent back as it is`, () => {
    const desc = kind.schema as unknown as DescMessage;
    fc.assert(
      fc.property(arbitraryMessage(desc), fc.integer({ min: 0 }), fc.string(), (message, ms, who) => {
        const document = stripServerSet(kind, message as Document, undefined);
        const meta = { createdAtMs: ms, createdBy: who, updatedAtMs: ms + 1, updatedBy: who };
        const payload = assemblePayload(canonicalJson(kind, document), meta);
        const whole = { ...document, meta: metaMessage(ms, who) } as Message;
        assert.equal(text(payload), JSON.stringify(toJson(desc, whole)));
        assert.deepEqual(stripServerSet(kind, parseDocument(kind, payload), undefined), document);
      }),
      { numRuns: 50 },
    );
  });
}

function metaMessage(ms: number, who: string) {
  const [createdAt, updatedAt] = [timestampFromMs(ms), timestampFromMs(ms + 1)];
  return create(MetaSchema, { createdAt, createdBy: who, updatedAt, updatedBy: who });
}
