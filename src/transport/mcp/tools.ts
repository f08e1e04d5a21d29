import {
  type DescField,
  type DescMessage,
  getOption,
  hasOption,
  type JsonObject,
  ScalarType,
} from "@bufbuild/protobuf";
import { tool } from "../../../gen/retinue/v1/access_pb.js";
import type { Rpc } from "../rpc.js";

/** An RPC as agents see it. */
export interface McpTool {
  readonly rpc: Rpc;
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** The RPCs that carry the tool option, with the JSON Schema of their requests. */
export function toolsOf(rpcs: Iterable<Rpc>): ReadonlyMap<string, McpTool> {
  const tools = new Map<string, McpTool>();
  for (const rpc of rpcs) {
    if (!hasOption(rpc.method, tool)) continue;
    const { name, description } = getOption(rpc.method, tool);
    if (!name.startsWith("retinue_")) throw new Error(`${rpc.action}: a tool's name begins with retinue_`);
    if (tools.has(name)) throw new Error(`${rpc.action}: there are two tools ${name}`);
    tools.set(name, { rpc, name, description, inputSchema: messageSchema(rpc.method.input) });
  }
  return tools;
}

function messageSchema(desc: DescMessage): JsonObject {
  const properties = Object.fromEntries(desc.fields.map((field) => [field.jsonName, fieldSchema(field)]));
  return { type: "object", properties, additionalProperties: false };
}

function fieldSchema(field: DescField): JsonObject {
  if (field.fieldKind === "list") return { type: "array", items: valueSchema(field) };
  return valueSchema(field);
}

function valueSchema(field: DescField): JsonObject {
  // google.protobuf.Value takes any JSON: the empty schema.
  if (field.message)
    return field.message.typeName === "google.protobuf.Value" ? {} : messageSchema(field.message);
  if (field.enum) return { type: "string", enum: field.enum.values.map((value) => value.name) };
  switch (field.scalar) {
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return { type: "string" };
    default:
      return { type: "number" };
  }
}
