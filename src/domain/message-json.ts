import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type MessageShape,
  ScalarType,
} from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { type Fault, type FieldViolation, invalidField, invalidFields, malformed } from "./fault.js";
import { quoted } from "./name.js";

/** With more than these the rest of the request is not looked at: the first ones mended often mend the rest. */
const VIOLATIONS_MAX = 10;

/** Whoever parsed the text has limited its depth; a second limit that counts otherwise would only surprise. */
const READ_OPTIONS = { recursionLimit: 1000 };

/**
 * Reads a message from JSON, strictly: unknown fields, unknown enum values and numbers that have lost digits are
 * refused, with the path of each field as it was sent. `at` stands before the paths: `payload` gives
 * `payload.repos[0].ulr`. The JSON must not be nested so deeply that walking it overflows the stack.
 *
 * A reader of our own because `fromJson` of protobuf-es says what is wrong but not where, and takes without a word
 * what we refuse: integers beyond 2^53, enum numbers it does not know, a duration with something behind its `s`.
 * What it stores in some special way is still left to it: the well-known types, and messages that hold them unwrapped.
 */
export function messageFromJson<Desc extends DescMessage>(
  schema: Desc,
  json: JsonValue,
  at = "",
): MessageShape<Desc> {
  if (!isObject(json) && !shapeOf(schema).wellKnown)
    throw misfit(at, `must be a JSON object, not ${kindOf(json)}`);
  const out: FieldViolation[] = [];
  const message = readMessage(schema, json, at, out);
  if (out.length > 0) throw out[0]?.field === "" ? misfit("", out[0].description) : invalidFields(out);
  return message as MessageShape<Desc>;
}

function misfit(at: string, description: string): Fault {
  return at === "" ? malformed(`the request ${description}`) : invalidField(at, description);
}

/** Reads one value. Goes on after a violation, to find more; what it returns then is of no use. */
type Reader = (json: JsonValue, at: string, out: FieldViolation[]) => unknown;

/** What reading a field needs to know, gathered once: a look at a descriptor costs more than most values. */
interface FieldPlan {
  readonly jsonName: string;
  readonly localName: string;
  readonly oneof: string | undefined;
  /** Null is a value here; elsewhere in ProtoJSON it means "not given". */
  readonly takesNull: boolean;
  /** Undefined for a field that is left to protobuf-es. */
  readonly read: Reader | undefined;
}

function readMessage(desc: DescMessage, json: JsonValue, at: string, out: FieldViolation[]): unknown {
  const { wellKnown, plans, special } = shapeOf(desc);
  if (wellKnown) {
    const violation = wellKnown(json);
    return violation === undefined ? leaveToLibrary(desc, json, at, out) : refuse(out, at, violation);
  }
  if (!isObject(json)) return refuse(out, at, `must be an object, not ${kindOf(json)}`);
  const before = out.length;
  const message = create(desc) as unknown as Record<string, unknown>;
  for (const name in json) {
    if (out.length >= VIOLATIONS_MAX) break;
    const plan = plans.get(name);
    if (plan === undefined) {
      refuse(out, at === "" ? plain(name) : `${at}.${plain(name)}`, `unknown field; ${knownFields(desc)}`);
      continue;
    }
    const path = at === "" ? name : `${at}.${name}`;
    if (name !== plan.jsonName && Object.hasOwn(json, plan.jsonName)) {
      refuse(out, path, `cannot be given together with ${plan.jsonName}: they are the same field`);
    }
    const value = json[name] as JsonValue;
    if (plan.read === undefined || (value === null && !plan.takesNull)) continue;
    if (plan.oneof === undefined) message[plan.localName] = plan.read(value, path, out);
    else readMember(message, plan.oneof, plan, value, path, out);
  }
  return special && out.length === before ? leaveToLibrary(desc, json, at, out) : message;
}

function readMember(
  message: Record<string, unknown>,
  oneof: string,
  plan: FieldPlan,
  json: JsonValue,
  at: string,
  out: FieldViolation[],
): void {
  const other = message[oneof] as { case?: string };
  if (other.case !== undefined) refuse(out, at, `cannot be given together with ${other.case}`);
  message[oneof] = { case: plan.localName, value: plan.read?.(json, at, out) };
}

function leaveToLibrary(desc: DescMessage, json: JsonValue, at: string, out: FieldViolation[]): unknown {
  try {
    return fromJson(desc, json, READ_OPTIONS);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refuse(out, at, `cannot be read as ${desc.name}: ${reason}`);
  }
}

function fieldReader(field: DescField): Reader {
  const read = valueReader(field);
  if (field.fieldKind === "list") return (json, at, out) => readList(read, json, at, out);
  return field.fieldKind === "map" ? (json, at, out) => readMap(read, json, at, out) : read;
}

/** Of the field's own value, an item of a list, or an entry of a map. */
function valueReader(field: DescField): Reader {
  const { message, enum: desc, scalar } = field;
  if (message) return (json, at, out) => readMessage(message, json, at, out);
  if (desc) return (json, at, out) => readEnum(desc, json, at, out);
  return (json, at, out) => readScalar(scalar as ScalarType, json, at, out);
}

function readList(read: Reader, json: JsonValue, at: string, out: FieldViolation[]): unknown {
  if (!Array.isArray(json)) return refuse(out, at, `must be an array, not ${kindOf(json)}`);
  const list: unknown[] = [];
  for (let i = 0; i < json.length && out.length < VIOLATIONS_MAX; i++) {
    list.push(read(json[i] as JsonValue, `${at}[${i}]`, out));
  }
  return list;
}

function readMap(read: Reader, json: JsonValue, at: string, out: FieldViolation[]): unknown {
  if (!isObject(json)) return refuse(out, at, `must be an object, not ${kindOf(json)}`);
  const map: Record<string, unknown> = {};
  for (const key in json) {
    if (out.length >= VIOLATIONS_MAX) break;
    const path = /^[\w-]+$/.test(key) ? `${at}.${key}` : `${at}[${quoted(key)}]`;
    // As a key of a JavaScript object it would vanish, or worse.
    if (key === "__proto__") refuse(out, path, "is not possible as a key");
    else map[key] = read(json[key] as JsonValue, path, out);
  }
  return map;
}

function refuse(out: FieldViolation[], field: string, description: string): undefined {
  out.push({ field, description });
}

function readEnum(desc: DescEnum, json: JsonValue, at: string, out: FieldViolation[]): unknown {
  if (typeof json === "string") {
    const value = desc.values.find((candidate) => candidate.name === json);
    if (value) return value.number;
  }
  if (typeof json === "number" && desc.value[json]) return json;
  const found =
    typeof json === "string" || typeof json === "number" ? "unknown value" : "must be a string, not";
  const allowed = desc.values.map((value) => value.name).join(", ");
  return refuse(out, at, `${found} ${shown(json)}; allowed: ${allowed}`);
}

function readScalar(type: ScalarType, json: JsonValue, at: string, out: FieldViolation[]): unknown {
  switch (type) {
    case ScalarType.STRING:
      if (typeof json !== "string") return refuse(out, at, `must be a string, not ${kindOf(json)}`);
      return isWellFormed(json)
        ? json
        : refuse(out, at, "must be Unicode text, and holds half of a surrogate pair");
    case ScalarType.BOOL:
      return typeof json === "boolean" ? json : refuse(out, at, `must be true or false, not ${shown(json)}`);
    case ScalarType.BYTES:
      return typeof json === "string" && isBase64(json)
        ? bytesOf(json)
        : refuse(out, at, "must be a base64 string");
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return isFloat(json, type) ? Number(json) : refuse(out, at, `must be a number, not ${shown(json)}`);
    default: {
      const violation = integerViolation(INTEGERS[type], json);
      if (violation !== undefined) return refuse(out, at, violation);
      return INTEGERS[type].bits === 64 ? BigInt(json as string) : Number(json);
    }
  }
}

interface IntegerType {
  readonly bits: 32 | 64;
  readonly min: bigint;
  readonly max: bigint;
}

const INT32: IntegerType = { bits: 32, min: -(2n ** 31n), max: 2n ** 31n - 1n };
const UINT32: IntegerType = { bits: 32, min: 0n, max: 2n ** 32n - 1n };
const INT64: IntegerType = { bits: 64, min: -(2n ** 63n), max: 2n ** 63n - 1n };
const UINT64: IntegerType = { bits: 64, min: 0n, max: 2n ** 64n - 1n };

const INTEGERS = {
  [ScalarType.INT32]: INT32,
  [ScalarType.SINT32]: INT32,
  [ScalarType.SFIXED32]: INT32,
  [ScalarType.UINT32]: UINT32,
  [ScalarType.FIXED32]: UINT32,
  [ScalarType.INT64]: INT64,
  [ScalarType.SINT64]: INT64,
  [ScalarType.SFIXED64]: INT64,
  [ScalarType.UINT64]: UINT64,
  [ScalarType.FIXED64]: UINT64,
};

function integerViolation({ bits, min, max }: IntegerType, json: JsonValue): string | undefined {
  const decimal =
    typeof json === "string" ? /^-?\d{1,20}$/.test(json) : typeof json === "number" && Number.isInteger(json);
  if (!decimal) return `must be a ${bits}-bit integer, not ${shown(json)}`;
  if (bits === 64 && typeof json === "number" && !Number.isSafeInteger(json)) {
    return "a number beyond 2^53 loses digits in JSON: send it as a string";
  }
  const value = BigInt(json as string | number);
  return value >= min && value <= max ? undefined : `${shown(json)} is out of range: from ${min} to ${max}`;
}

function isFloat(json: JsonValue, type: ScalarType): boolean {
  if (json === "NaN" || json === "Infinity" || json === "-Infinity") return true;
  if (typeof json !== "number" && (typeof json !== "string" || !/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(json)))
    return false;
  return Number.isFinite(type === ScalarType.FLOAT ? Math.fround(Number(json)) : Number(json));
}

/** Standard or URL-safe, with or without padding, as ProtoJSON has it. */
function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(text) && text.replace(/=+$/, "").length % 4 !== 1;
}

/** Node's decoder is many times faster than that of protobuf-es; messages hold a plain Uint8Array. */
function bytesOf(base64: string): Uint8Array {
  const buffer = Buffer.from(base64, "base64");
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}

const WELL_KNOWN: Readonly<Record<string, (json: JsonValue) => string | undefined>> = {
  "google.protobuf.Timestamp": (json) =>
    isTimestamp(json)
      ? undefined
      : `must be a time like "2026-11-15T09:30:00Z" (RFC 3339), not ${shown(json)}`,
  "google.protobuf.Duration": (json) =>
    typeof json === "string" && /^-?\d{1,12}(\.\d{1,9})?s$/.test(json)
      ? undefined
      : `must be seconds like "90s" or "1.5s", not ${shown(json)}`,
  "google.protobuf.FieldMask": (json) =>
    typeof json === "string" && !json.includes("_")
      ? undefined
      : `must be a string of comma-separated lowerCamelCase paths, not ${shown(json)}`,
  "google.protobuf.Struct": (json) => (isObject(json) ? undefined : `must be an object, not ${kindOf(json)}`),
  "google.protobuf.ListValue": (json) =>
    Array.isArray(json) ? undefined : `must be an array, not ${kindOf(json)}`,
  "google.protobuf.Value": () => undefined,
};

/** Stricter than Date.parse, which takes 30 February for 2 March. */
function isTimestamp(json: JsonValue): boolean {
  if (typeof json !== "string") return false;
  const match = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.exec(json);
  if (match === null || match[1] === "0000" || Number.isNaN(Date.parse(json))) return false;
  const day = Number(match[3]);
  return new Date(Date.UTC(Number(match[1]), Number(match[2]) - 1, day)).getUTCDate() === day;
}

interface Shape {
  readonly wellKnown: ((json: JsonValue) => string | undefined) | undefined;
  readonly fields: ReadonlyMap<string, DescField>;
  readonly plans: ReadonlyMap<string, FieldPlan>;
  /** Some of its fields are left to protobuf-es, and so is the whole message then. */
  readonly special: boolean;
}

const shapes = new WeakMap<DescMessage, Shape>();

function shapeOf(desc: DescMessage): Shape {
  let shape = shapes.get(desc);
  if (shape === undefined) {
    const fields = new Map(
      desc.fields.flatMap((field) => [field.name, field.jsonName].map((name) => [name, field])),
    );
    const plans = new Map([...fields].map(([name, field]) => [name, planOf(field)]));
    shape = { wellKnown: WELL_KNOWN[desc.typeName], fields, plans, special: desc.fields.some(isSpecial) };
    shapes.set(desc, shape);
  }
  return shape;
}

function planOf(field: DescField): FieldPlan {
  return {
    jsonName: field.jsonName,
    localName: field.localName,
    oneof: field.oneof?.localName,
    takesNull: field.fieldKind === "message" && field.message.typeName === "google.protobuf.Value",
    read: isSpecial(field) ? undefined : fieldReader(field),
  };
}

/** By what ProtoJSON lets callers write: the lowerCamelCase name and the proto one. */
export function fieldsByName(desc: DescMessage): ReadonlyMap<string, DescField> {
  return shapeOf(desc).fields;
}

/** Whether every field of a message holds what its JSON says, and protobuf-es does nothing clever in between. */
export function isPlain(desc: DescMessage): boolean {
  return !desc.typeName.startsWith("google.protobuf.") && !shapeOf(desc).special;
}

function isSpecial(field: DescField): boolean {
  if (field.fieldKind === "map" && field.mapKey !== ScalarType.STRING) return true;
  if ("longAsString" in field && field.longAsString) return true;
  if (field.enum?.typeName === "google.protobuf.NullValue") return true;
  const type = field.message;
  return type !== undefined && (isWrapperDesc(type) || UNWRAPPED.has(type.typeName));
}

const UNWRAPPED = new Set(["google.protobuf.Struct", "google.protobuf.Any"]);

function knownFields(desc: DescMessage): string {
  const known = desc.fields.map((field) => field.jsonName).sort();
  return known.length === 0 ? "no fields are known here" : `known fields: ${known.join(", ")}`;
}

/** A caller's name for a field, cut and escaped unless it is one that could be meant. */
function plain(name: string): string {
  return /^[\w$-]{1,64}$/.test(name) ? name : quoted(name);
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function kindOf(json: JsonValue): string {
  if (json === null) return "null";
  if (Array.isArray(json)) return "an array";
  return typeof json === "object" ? "an object" : `a ${typeof json}`;
}

function shown(json: JsonValue): string {
  if (typeof json === "string") return quoted(json);
  return typeof json === "object" ? kindOf(json) : String(json);
}

/** In Node since 20, not yet in the library that TypeScript is told to use. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
