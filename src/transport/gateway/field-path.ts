import { type DescField, type DescMessage, type JsonValue, ScalarType } from "@bufbuild/protobuf";

/** A field of a request, reached through message fields. */
export interface FieldPath {
  /** From the request's own field to the one that is meant; never empty. */
  readonly fields: readonly [...parents: (DescField & { fieldKind: "message" })[], leaf: DescField];
  /** Dotted, as in JSON: `ref.tenant.org`. */
  readonly jsonPath: string;
}

/** Finds `ref.tenant.org` below a message; the names are those of the proto file. */
export function resolveFieldPath(desc: DescMessage, path: string): FieldPath {
  const parents: (DescField & { fieldKind: "message" })[] = [];
  const names = path.split(".");
  let message = desc;
  for (const [i, name] of names.entries()) {
    const field = message.fields.find((candidate) => candidate.name === name);
    if (field === undefined) throw new Error(`${message.typeName} has no field '${name}'`);
    if (i === names.length - 1) {
      const fields = [...parents, field] as const;
      return { fields, jsonPath: fields.map((f) => f.jsonName).join(".") };
    }
    // A member of a oneof is not a property of its message, and nothing of ours needs one here.
    if (field.fieldKind !== "message" || field.oneof) {
      throw new Error(`'${name}' of '${path}' is not a single message`);
    }
    parents.push(field);
    message = field.message;
  }
  throw new Error("an empty field path");
}

export function leafOf(path: FieldPath): DescField {
  return path.fields[path.fields.length - 1] as DescField;
}

/** Text of a URL as the JSON that a field takes; what does not fit stays text and is refused by whoever reads it. */
export function jsonOfText(field: DescField, text: string): JsonValue {
  if (field.enum && /^-?\d+$/.test(text)) return Number(text);
  if (field.scalar === ScalarType.BOOL && (text === "true" || text === "false")) return text === "true";
  return text;
}
