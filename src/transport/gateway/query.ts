import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { invalidField, malformed } from "../../domain/fault.js";
import { quoted } from "../../domain/name.js";
import { jsonOfText } from "./field-path.js";
import type { Route } from "./rule.js";

/** A field that can be given in the query. */
interface Parameter {
  readonly jsonPath: string;
  /** JSON names from the request's field down to this one. */
  readonly names: readonly string[];
  readonly field: DescField;
}

/** Reads the query of a URL into the JSON of a request. */
export type QueryReader = (query: string, into: JsonObject) => void;

/** Messages whose JSON is a string, which therefore fit into a URL. */
const TEXTUAL = new Set([
  "google.protobuf.Timestamp",
  "google.protobuf.Duration",
  "google.protobuf.FieldMask",
]);

/**
 * Compiles the query of a route: every field that comes neither from the path nor from the body, by its dotted JSON
 * name. Lists are given by repetition; maps and lists of messages cannot be given.
 */
export function compileQuery(route: Route): QueryReader {
  const parameters =
    route.body === "request" ? new Map<string, Parameter>() : parametersOf(route.rpc.method.input);
  const elsewhere = new Map(route.variables.map(({ jsonPath }) => [jsonPath, "the path"]));
  const bodyName = typeof route.body === "object" ? route.body.jsonName : undefined;
  for (const { jsonPath, names } of parameters.values()) {
    if (names[0] === bodyName) elsewhere.set(jsonPath, "the body");
  }
  const hint = hintOf(route, [...parameters.values()], elsewhere);

  return (query, into) => {
    const seen = new Set<string>();
    for (const [name, value] of pairsOf(query)) {
      const parameter = parameters.get(name);
      const source = elsewhere.get(parameter?.jsonPath ?? name);
      if (source) throw invalidField(name, `comes from ${source}: leave it out of the query`);
      if (!parameter) throw invalidField(shownName(name), `unknown query parameter; ${hint}`);
      const { field, jsonPath } = parameter;
      if (field.fieldKind !== "list" && seen.has(jsonPath)) throw invalidField(name, "given more than once");
      seen.add(jsonPath);
      put(into, parameter, jsonOfText(field, value));
    }
  };
}

function hintOf(
  route: Route,
  parameters: readonly Parameter[],
  elsewhere: ReadonlyMap<string, string>,
): string {
  if (route.body === "request") return "this method takes its fields in the body";
  const known = new Set(parameters.map(({ jsonPath }) => jsonPath).filter((path) => !elsewhere.has(path)));
  return known.size === 0 ? "this method takes none" : `known parameters: ${[...known].sort().join(", ")}`;
}

/** By JSON name and by proto name, at every level; a message that holds itself is entered once. */
function parametersOf(desc: DescMessage): Map<string, Parameter> {
  const found = new Map<string, Parameter>();
  const visit = (message: DescMessage, prefixes: readonly string[], above: readonly DescField[]) => {
    for (const field of message.fields) {
      const fields = [...above, field];
      const spellings = prefixes.flatMap((prefix) => [
        `${prefix}${field.name}`,
        `${prefix}${field.jsonName}`,
      ]);
      if (isTextual(field)) {
        const names = fields.map(({ jsonName }) => jsonName);
        for (const spelling of spellings) found.set(spelling, { jsonPath: names.join("."), names, field });
      } else if (field.fieldKind === "message" && !fields.some(({ parent }) => parent === field.message)) {
        const inner = spellings.map((spelling) => `${spelling}.`);
        visit(field.message, [...new Set(inner)], fields);
      }
    }
  };
  visit(desc, [""], []);
  return found;
}

function isTextual(field: DescField): boolean {
  return field.fieldKind !== "map" && (field.message === undefined || TEXTUAL.has(field.message.typeName));
}

function* pairsOf(query: string): Generator<[name: string, value: string]> {
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    yield equals === -1
      ? [decode(pair), ""]
      : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw malformed(`the query has malformed percent-encoding: ${quoted(text)}`);
  }
}

function put(into: JsonObject, { names, field }: Parameter, value: JsonValue): void {
  let object = into;
  for (const name of names.slice(0, -1)) {
    object[name] ??= {};
    object = object[name] as JsonObject;
  }
  const last = names[names.length - 1] as string;
  const list = object[last];
  if (Array.isArray(list)) list.push(value);
  else object[last] = field.fieldKind === "list" ? [value] : value;
}

function shownName(name: string): string {
  return /^[\w.-]{1,128}$/.test(name) ? name : quoted(name);
}
