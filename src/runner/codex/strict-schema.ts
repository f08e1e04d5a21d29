import { type JsonRecord, list, record } from "../acp/json.js";

/** Keywords that the strict mode of the model's server knows; whatever else is in a schema, it refuses. */
const KNOWN = new Set([
  ...["type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf"],
  ...["title", "description", "$schema", "minimum", "maximum", "pattern", "format", "minItems", "maxItems"],
]);

/**
 * The schema where the model's server takes it, which is for a part of JSON Schema only: an object at the root, and in
 * every object all properties required and no others. Undefined for any other: a refused request would cost the turn,
 * and the result tool carries every schema.
 */
export function strictSchema(text: string): JsonRecord | undefined {
  if (text === "") return undefined;
  const schema = record(JSON.parse(text));
  return schema.type === "object" && isStrict(schema) ? schema : undefined;
}

function isStrict(schema: JsonRecord): boolean {
  if (Object.keys(schema).some((keyword) => !KNOWN.has(keyword))) return false;
  const properties = record(schema.properties);
  if (schema.type === "object") {
    if (schema.additionalProperties !== false) return false;
    const required = new Set(list(schema.required));
    if (Object.keys(properties).some((name) => !required.has(name))) return false;
  }
  const inner = [
    ...Object.values(properties),
    ...list(schema.anyOf),
    ...(schema.items === undefined ? [] : [schema.items]),
  ];
  const says = ["type", "enum", "const", "anyOf"].some((keyword) => schema[keyword] !== undefined);
  return says && inner.every((part) => isStrict(record(part)));
}
