import type { JsonValue } from "@bufbuild/protobuf";
import { type AnySchemaObject, type ErrorObject, MissingRefError, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";
/** Unknown keywords and formats are annotations in 2020-12: they mean nothing to us, and are no mistake. */
const OPTIONS = { strict: false, allErrors: true, validateFormats: false, logger: false } as const;
const SHOWN = 5;
const REMEMBERED = 64;
const FARTHEST = 1000;

const metaSchema = new Ajv2020(OPTIONS);
const compiled = new Map<string, ValidateFunction | string>();

/** What is wrong with a schema; undefined: nothing. */
export function checkSchema(text: string): string | undefined {
  const found = compile(text);
  return typeof found === "string" ? found : undefined;
}

/** Where a value does not fit; undefined: it does. */
export function validateValue(text: string, value: JsonValue): string | undefined {
  const validate = compile(text);
  if (typeof validate === "string") return `the schema cannot be used: ${validate}`;
  try {
    return validate(value) ? undefined : sentences(validate.errors ?? []);
  } catch (error) {
    return `cannot be validated: ${messageOf(error)}`;
  }
}

/** The validator, or what is wrong with the schema. */
function compile(text: string): ValidateFunction | string {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const made = compileAnew(text);
  if (compiled.size >= REMEMBERED) compiled.delete(compiled.keys().next().value as string);
  compiled.set(text, made);
  return made;
}

function compileAnew(text: string): ValidateFunction | string {
  let schema: AnySchemaObject;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    return `is not JSON: ${messageOf(error)}`;
  }
  if (schema === null || typeof schema !== "object" || Array.isArray(schema))
    return 'must be a JSON object, {"type": "object", …}';
  if (schema.$schema !== undefined && String(schema.$schema).replace(/#$/, "") !== DIALECT)
    return `/$schema: must be ${DIALECT}, or left out`;
  // A word of the library's own, which would make a promise of every answer.
  if ("$async" in schema) return "/$async: is no keyword of JSON Schema 2020-12";
  try {
    if (!metaSchema.validateSchema(schema)) return sentences(metaSchema.errors ?? []);
    // One per schema: their IDs may be the same. Without the meta-schemas: a schema is to stand alone.
    return new Ajv2020({ ...OPTIONS, meta: false, validateSchema: false }).compile(schema);
  } catch (error) {
    return located(schema, error);
  }
}

/** The library says what it cannot compile, but not where. */
function located(schema: unknown, error: unknown): string {
  if (error instanceof MissingRefError) {
    const missing = error.missingRef;
    const at = find(
      schema,
      (key, value) => /^\$(dynamicR|r)ef$/.test(key) && missing.endsWith(String(value)),
    );
    return `${at}: ${JSON.stringify(missing)} is not in the schema, which must be self-contained`;
  }
  const at = find(schema, (key, value, holder) => {
    const pattern = key === "pattern" ? value : holder === "patternProperties" ? key : undefined;
    return typeof pattern === "string" && !isPattern(pattern);
  });
  return at === "" ? messageOf(error) : `${at}: ${messageOf(error)}`;
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "u") !== undefined;
  } catch {
    return false;
  }
}

/** Pointer to the first member that fits; empty: none. Far down nobody looks, and the stack would not allow it. */
function find(
  value: unknown,
  fits: (key: string, value: unknown, holder: string) => boolean,
  pointer = "",
  holder = "",
): string {
  if (value === null || typeof value !== "object" || pointer.length > FARTHEST) return "";
  for (const [key, member] of Object.entries(value)) {
    const at = `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const found = fits(key, member, holder) ? at : find(member, fits, at, key);
    if (found !== "") return found;
  }
  return "";
}

/** The deepest mistakes first: what stands above them is mostly their consequence. */
function sentences(errors: readonly ErrorObject[]): string {
  const depth = ({ instancePath }: ErrorObject) => instancePath.split("/").length;
  const sorted = [...errors].sort((a, b) => depth(b) - depth(a));
  const shown = [...new Set(sorted.map(sentence))];
  const more = shown.length - SHOWN;
  return shown.slice(0, SHOWN).join("; ") + (more > 0 ? `; and ${more} more` : "");
}

function sentence({ instancePath, message, keyword, params }: ErrorObject): string {
  const allowed = keyword === "enum" ? `: ${(params.allowedValues as unknown[]).map(show).join(", ")}` : "";
  const extra = keyword === "additionalProperties" ? `: ${show(params.additionalProperty)}` : "";
  const wanted = keyword === "const" ? `: ${show(params.allowedValue)}` : "";
  const what = `${message ?? keyword}${allowed}${extra}${wanted}`;
  return instancePath === "" ? what : `${instancePath}: ${what}`;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
