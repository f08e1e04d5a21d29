import { create, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import fc from "fast-check";

/** Any message of a type, each field set or not; times and durations stay within what JSON can hold. */
export function arbitraryMessage(desc: DescMessage): fc.Arbitrary<Message> {
  const fields = desc.fields.map((field) => fc.option(arbitraryValue(field), { nil: undefined }));
  return fc.tuple(...fields).map((values) => {
    const message = reflect(desc);
    for (const [index, field] of desc.fields.entries()) {
      const value = values[index];
      if (value !== undefined) put(message, field, value);
    }
    return message.message;
  });
}

function put(message: ReflectMessage, field: DescField, value: unknown): void {
  if (field.fieldKind === "list") {
    for (const item of value as unknown[]) message.get(field).add(wrapped(field, item));
  } else if (field.fieldKind === "map") {
    // In order, as documents are stored.
    const entries = Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [key, item] of entries) message.get(field).set(key, wrapped(field, item));
  } else {
    message.set(field, wrapped(field, value));
  }
}

function wrapped(field: DescField, value: unknown): unknown {
  return field.message === undefined ? value : reflect(field.message, value as Message);
}

function arbitraryValue(field: DescField): fc.Arbitrary<unknown> {
  if (field.fieldKind === "list") return fc.array(arbitrarySingle(field), { maxLength: 3 });
  if (field.fieldKind === "map") return fc.dictionary(fc.string({ minLength: 1 }), arbitrarySingle(field));
  return arbitrarySingle(field);
}

function arbitrarySingle(field: DescField): fc.Arbitrary<unknown> {
  if (field.enum) return fc.constantFrom(...field.enum.values.map((value) => value.number));
  if (field.message) return arbitrarySingleMessage(field.message);
  switch (field.scalar) {
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.INT32:
      return fc.integer();
    case ScalarType.INT64:
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    case ScalarType.DOUBLE:
      return fc.double({ noNaN: true }).map((x) => (x === 0 ? 0 : x));
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 20 });
    default:
      return fc.string({ unit: "grapheme" });
  }
}

/** Largest seconds of the types that JSON writes as text: the end of the year 9999, and of any patience. */
const SECONDS_MAX: Readonly<Record<string, bigint>> = {
  "google.protobuf.Timestamp": 253_402_300_799n,
  "google.protobuf.Duration": 9_999_999_999n,
};

function arbitrarySingleMessage(desc: DescMessage): fc.Arbitrary<Message> {
  const max = SECONDS_MAX[desc.typeName];
  if (max === undefined) return arbitraryMessage(desc);
  return fc
    .tuple(fc.bigInt({ min: 0n, max }), fc.integer({ min: 0, max: 999_999_999 }))
    .map(([seconds, nanos]) => create(desc, { seconds, nanos }));
}
