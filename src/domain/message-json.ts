import {
  create,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type MessageShape,
  ScalarType,
} from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { type Fault, type FieldViolation, invalidField, invalidFields, malformed } from "./fault.js";
import { isObject, kindOf, readEnum, readScalar, refuse, WELL_KNOWN } from "./json-values.js";
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
