import { type DescField, type DescMessage, getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.js";
import type { HttpRule } from "../../../gen/google/api/http_pb.js";
import { isPlain } from "../../domain/message-json.js";
import type { Rpc } from "../rpc.js";
import { type FieldPath, leafOf, resolveFieldPath } from "./field-path.js";
import { type PathTemplate, parsePathTemplate, shapeOf } from "./path-template.js";

/** A google.api.http rule held against the descriptors of its RPC: everything it names exists. */
export interface Route {
  readonly rpc: Rpc;
  readonly httpMethod: "GET" | "PUT" | "POST" | "DELETE" | "PATCH";
  readonly template: PathTemplate;
  /** The fields that the template's variables fill, in the order in which they stand. */
  readonly variables: readonly FieldPath[];
  /** What the body is: nothing, the whole request, or one field of it. */
  readonly body: "none" | "request" | MessageField;
  /** The field that is answered in place of the whole response. */
  readonly responseField: MessageField | undefined;
}

type MessageField = DescField & { readonly fieldKind: "message" };

/** The routes of all RPCs that have a rule. Refuses what cannot be served and rules that contradict each other. */
export function resolveRoutes(rpcs: Iterable<Rpc>): Route[] {
  const routes: Route[] = [];
  const taken = new Map<string, Route>();
  for (const rpc of rpcs) {
    if (!hasOption(rpc.method, http)) continue;
    for (const route of resolveRules(rpc, getOption(rpc.method, http))) {
      const key = `${route.httpMethod} ${shapeOf(route.template)}`;
      const other = taken.get(key);
      if (other) throw new Error(`${rpc.action} and ${other.rpc.action} have the same HTTP rule: ${key}`);
      taken.set(key, route);
      routes.push(route);
    }
  }
  return routes;
}

/** A rule and its additional bindings. */
export function resolveRules(rpc: Rpc, rule: HttpRule): Route[] {
  return [rule, ...rule.additionalBindings].map((binding) => {
    try {
      return resolveRule(rpc, binding, binding !== rule);
    } catch (error) {
      throw new Error(`${rpc.action}: (google.api.http): ${(error as Error).message}`);
    }
  });
}

function resolveRule(rpc: Rpc, rule: HttpRule, additional: boolean): Route {
  if (additional && rule.additionalBindings.length > 0) throw new Error("additional_bindings are nested");
  if (rule.selector !== "") throw new Error("a selector has no meaning on a method");
  const { case: verb, value: path } = rule.pattern;
  if (verb === undefined) throw new Error("names no HTTP method");
  if (verb === "custom") throw new Error(`the custom method '${path.kind}' is not served`);
  const template = parsePathTemplate(path);
  if (!path.startsWith("/v1/")) throw new Error(`path template '${path}' does not begin with '/v1/'`);
  return {
    rpc,
    httpMethod: verb.toUpperCase() as Route["httpMethod"],
    template,
    variables: resolveVariables(rpc, template),
    body: resolveBody(rpc, verb, rule.body),
    responseField: resolveResponseBody(rpc, rule.responseBody),
  };
}

function resolveVariables(rpc: Rpc, template: PathTemplate): FieldPath[] {
  const names = template.segments.filter(({ kind }) => kind === "variable").map(({ text }) => text);
  if (new Set(names).size < names.length) throw new Error(`'${template.text}' names a field twice`);
  return names.map((name) => {
    const path = resolveFieldPath(rpc.method.input, name);
    if (!fitsPath(leafOf(path))) throw new Error(`'${name}' is not a single string, integer or enum`);
    return path;
  });
}

function fitsPath(field: DescField): boolean {
  if (field.oneof) return false;
  if (field.fieldKind === "enum") return true;
  return field.fieldKind === "scalar" && !NOT_IN_PATHS.has(field.scalar);
}

const NOT_IN_PATHS: ReadonlySet<ScalarType> = new Set([
  ScalarType.BOOL,
  ScalarType.BYTES,
  ScalarType.DOUBLE,
  ScalarType.FLOAT,
]);

function resolveBody(rpc: Rpc, verb: string, body: string): Route["body"] {
  if (body === "") return "none";
  if (verb === "get") throw new Error("a GET has no body");
  return body === "*" ? "request" : messageField(rpc.method.input, "body", body);
}

function resolveResponseBody(rpc: Rpc, name: string): MessageField | undefined {
  return name === "" ? undefined : messageField(rpc.method.output, "response_body", name);
}

function messageField(desc: DescMessage, what: string, name: string): MessageField {
  const field = desc.fields.find((candidate) => candidate.name === name);
  if (field?.fieldKind === "message" && !field.oneof && isPlain(field.message)) return field;
  throw new Error(`${what} '${name}' is not a single message of ${desc.typeName}`);
}
