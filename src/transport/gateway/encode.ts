import type { Reply } from "../rpc.js";
import { jsonWriter } from "./json-writer.js";
import type { Route } from "./rule.js";

/** Compiles the answer of a route: the response, or the field of it that the rule names, as JSON text. */
export function compileEncode(route: Route): (reply: Reply) => string {
  const { responseField } = route;
  if (!responseField) return jsonWriter(route.rpc.method.output);
  const write = jsonWriter(responseField.message);
  return (reply) => {
    const part = (reply as Readonly<Record<string, Reply | undefined>>)[responseField.localName];
    return part === undefined ? "{}" : write(part);
  };
}
