import { type DescEnum, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import type { FieldViolation } from "./fault.js";
import { quoted } from "./name.js";

export function refuse(out: FieldViolation[], field: string, description: string): undefined {
  out.push({ field, description });
}

export function readEnum(desc: DescEnum, json: JsonValue, at: string, out: FieldViolation[]): unknown {
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

export function readScalar(type: ScalarType, json: JsonValue, at: string, out: FieldViolation[]): unknown {
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

export const WELL_KNOWN: Readonly<Record<string, (json: JsonValue) => string | undefined>> = {
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

export function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

export function kindOf(json: JsonValue): string {
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
