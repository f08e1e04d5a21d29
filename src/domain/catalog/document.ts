import {
  clone,
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  toJson,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { type Fault, invalidField, invalidFields } from "../fault.js";
import { inspectJson, JSON_DEPTH_MAX } from "../json-text.js";
import { messageFromJson } from "../message-json.js";
import type { Document, Kind } from "./kind.js";

/** Largest document, as sent and as stored. */
export const DOCUMENT_MAX_BYTES = 256 * 1024;
/** As many as fit on a screen; with more, the first ones mended often mend the rest. */
const VIOLATIONS_SHOWN = 20;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** What `meta` is made of; stored beside the document, not in it. */
export interface DocumentMeta {
  readonly createdAtMs: number;
  readonly createdBy: string;
  readonly updatedAtMs: number;
  readonly updatedBy: string;
}

/** Reads a payload. Unknown fields and wrong types are refused with their path, `payload.repos[0].ulr`. */
export function parseDocument<D extends Document>(kind: Kind<D>, payload: Uint8Array): D {
  if (payload.length === 0)
    throw invalidField("payload", "required: the document as JSON, '{}' for an empty one");
  if (payload.length > DOCUMENT_MAX_BYTES) throw tooLarge(payload.length);
  const json = parseJson(payload);
  if (json === null || typeof json !== "object" || Array.isArray(json)) {
    throw invalidField("payload", "must be a JSON object");
  }
  return messageFromJson(descOf(kind), json, "payload") as D;
}

/** The document without what callers cannot write: `meta` goes, other server-set fields are as they were. */
export function stripServerSet<D extends Document>(kind: Kind<D>, document: D, before: D | undefined): D {
  if (kind.serverSet.length === 0 && document.meta === undefined) return document;
  const desc = descOf(kind);
  const stripped = clone(desc, document) as D;
  delete stripped.meta;
  if (kind.serverSet.length === 0) return stripped;
  const to = reflect(desc, stripped);
  const from = reflect(desc, before && clone(desc, before));
  for (const name of kind.serverSet) {
    const field = desc.field[name] as DescField;
    if (from.isSet(field)) to.set(field, from.get(field));
    else to.clear(field);
  }
  return stripped;
}

/** Refuses a document that breaks the rules of its kind, with all that is wrong at once. */
export function checkDocument<D extends Document>(kind: Kind<D>, document: D): void {
  const violations = kind.validate(document);
  if (violations.length === 0) return;
  const shown = violations
    .slice(0, VIOLATIONS_SHOWN)
    .map(({ field, description }) => ({ field: `payload.${field}`, description }));
  const more = violations.length - shown.length;
  if (more > 0) shown.push({ field: "payload", description: `${more} more fields are wrong` });
  throw invalidFields(shown);
}

/**
 * The form that is stored: ProtoJSON without `meta`, fields by number and map keys in order, so that two
 * documents are the same exactly if their texts are. Refuses what a series of patches has made too large.
 */
export function canonicalJson<D extends Document>(kind: Kind<D>, document: D): string {
  const desc = descOf(kind);
  const json = toJson(desc, document) as JsonObject;
  if ("meta" in json) delete json.meta;
  const text = JSON.stringify(hasMap(desc) ? sortMaps(desc, json) : json);
  const bytes = Buffer.byteLength(text);
  // Records of the server are spared: a change request holds a whole payload, and in base64.
  if (bytes > DOCUMENT_MAX_BYTES && kind.notWritable === undefined) throw tooLarge(bytes);
  return text;
}

/**
 * A stored document as callers see it. Spliced as text, because every read and write passes here and parsing
 * would cost more than all the rest. `reveal` holds fields that are never stored, by JSON name.
 */
export function assemblePayload(
  documentJson: string,
  meta: DocumentMeta | undefined,
  reveal: Readonly<Record<string, string>> = {},
): Uint8Array {
  const members: string[] = [];
  if (meta !== undefined) members.push(`"meta":${metaJson(meta)}`);
  if (documentJson !== "{}") members.push(documentJson.slice(1, -1));
  for (const [name, value] of Object.entries(reveal))
    members.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return Buffer.from(`{${members.join(",")}}`);
}

/** RFC 3339 as protobuf-es writes it: milliseconds only where there are any. */
export function timestampText(ms: number): string {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}

function metaJson(meta: DocumentMeta): string {
  const created = stampJson("created", meta.createdAtMs, meta.createdBy);
  return `{${created},${stampJson("updated", meta.updatedAtMs, meta.updatedBy)}}`;
}

function stampJson(name: string, atMs: number, by: string): string {
  const at = `"${name}At":"${timestampText(atMs)}"`;
  return by === "" ? at : `${at},"${name}By":${JSON.stringify(by)}`;
}

function parseJson(payload: Uint8Array): JsonValue {
  let text: string;
  try {
    text = utf8.decode(payload);
  } catch {
    throw invalidField("payload", "is not UTF-8");
  }
  inspectJson(text, "payload", () =>
    invalidField("payload", `nested more than ${JSON_DEPTH_MAX} levels deep`),
  );
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw invalidField("payload", `is not JSON: ${(error as Error).message}`);
  }
}

function tooLarge(bytes: number): Fault {
  return invalidField(
    "payload",
    `a document has at most ${DOCUMENT_MAX_BYTES / 1024} KiB, this one has ${bytes} bytes`,
  );
}

/** The kind's descriptor, free of the type parameter that TypeScript cannot see through. */
function descOf<D extends Document>(kind: Kind<D>): DescMessage {
  return kind.schema as unknown as DescMessage;
}

const withMaps = new WeakMap<DescMessage, boolean>();

/** Most kinds have no map, and are spared the walk. */
function hasMap(desc: DescMessage): boolean {
  const known = withMaps.get(desc) ?? holdsMap(desc, new Set());
  withMaps.set(desc, known);
  return known;
}

function holdsMap(desc: DescMessage, seen: Set<DescMessage>): boolean {
  if (seen.has(desc)) return false;
  seen.add(desc);
  return desc.fields.some(
    (f) => f.fieldKind === "map" || (f.message !== undefined && holdsMap(f.message, seen)),
  );
}

function sortMaps(desc: DescMessage, json: JsonValue): JsonValue {
  if (desc.typeName.startsWith("google.protobuf.")) return sortAnything(json);
  const message = json as JsonObject;
  for (const field of desc.fields) {
    const value = message[field.jsonName];
    if (value === undefined) continue;
    const inner = (item: JsonValue) => (field.message ? sortMaps(field.message, item) : item);
    if (field.fieldKind === "map") message[field.jsonName] = sortKeys(value, inner);
    else message[field.jsonName] = Array.isArray(value) ? value.map(inner) : inner(value);
  }
  return message;
}

/** For google.protobuf.Struct and its like, whose objects are maps all the way down. */
function sortAnything(json: JsonValue): JsonValue {
  return Array.isArray(json) ? json.map(sortAnything) : sortKeys(json, sortAnything);
}

function sortKeys(json: JsonValue, inner: (value: JsonValue) => JsonValue): JsonValue {
  if (json === null || typeof json !== "object" || Array.isArray(json)) return json;
  const entries = Object.entries(json).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, value]) => [key, inner(value)]));
}
