import {
  create,
  type DescField,
  isFieldSet,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { invalidField } from "../../domain/fault.js";
import { messageFromJson } from "../../domain/message-json.js";
import { quoted } from "../../domain/name.js";
import { type FieldPath, jsonOfText, leafOf } from "./field-path.js";
import { compileQuery } from "./query.js";
import type { Route } from "./rule.js";

/** Values of the path's variables by the router's names for them, percent-decoded. */
type Params = Readonly<Record<string, string>>;

/** Makes the request message of a route out of the parts of an HTTP request; `url` is as it came. */
export type Bind = (url: string, params: Params, body: JsonValue | undefined) => Message;

/** Body, then query, then path. They cannot overwrite one another: what is given twice is refused. */
export function compileBind(route: Route): Bind {
  const { input } = route.rpc.method;
  const readQuery = compileQuery(route);
  const variables = route.variables.map(compileVariable);

  function jsonOf(url: string, body: JsonValue | undefined): JsonValue | undefined {
    // A bare '#' has no business in a request, but the router ends the path there too.
    const start = url.search(/[?#]/);
    const wrapped =
      typeof route.body === "object" && body !== undefined ? { [route.body.jsonName]: body } : body;
    if (start === -1 || start === url.length - 1) return wrapped;
    const query: JsonObject = {};
    readQuery(url.slice(start + 1), query);
    return typeof route.body === "object" ? { ...query, ...(wrapped as JsonObject) } : (wrapped ?? query);
  }

  return (url, params, body) => {
    const json = jsonOf(url, body);
    const message: Message = json === undefined ? create(input) : messageFromJson(input, json);
    for (const set of variables) set(message, params);
    return message;
  };
}

function compileVariable(path: FieldPath, index: number): (message: Message, params: Params) => void {
  const param = `v${index}`;
  const parents = path.fields.slice(0, -1) as readonly (DescField & { fieldKind: "message" })[];
  const leaf = leafOf(path);
  const name = leaf.localName;

  return (message, params) => {
    const text = params[param] as string;
    if (text === "") throw invalidField(path.jsonPath, "must not be empty in the path");
    let target = message as Message & Record<string, unknown>;
    for (const parent of parents) {
      target[parent.localName] ??= create(parent.message);
      target = target[parent.localName] as typeof target;
    }
    const value = parseValue(path, text);
    if (target[name] !== value && isFieldSet(target, leaf)) {
      const said = leaf.enum ? (leaf.enum.value[target[name] as number]?.name ?? target[name]) : target[name];
      throw invalidField(
        path.jsonPath,
        `is ${quoted(text)} in the path and ${quoted(String(said))} in the body`,
      );
    }
    target[name] = value;
  };
}

function parseValue(path: FieldPath, text: string): unknown {
  const leaf = leafOf(path);
  if (leaf.fieldKind === "scalar" && leaf.scalar === ScalarType.STRING) return text;
  const at = path.jsonPath.slice(0, -leaf.jsonName.length - 1);
  const holder = messageFromJson(leaf.parent, { [leaf.jsonName]: jsonOfText(leaf, text) }, at);
  return (holder as Message & Record<string, unknown>)[leaf.localName];
}
