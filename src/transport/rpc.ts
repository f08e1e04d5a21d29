import {
  create,
  type DescMessage,
  type DescMethod,
  getOption,
  hasOption,
  type Message,
} from "@bufbuild/protobuf";
import { type Access, access } from "../../gen/retinue/v1/access_pb.js";
import { isScope } from "../domain/scope.js";
import type { CallContext, Service } from "../services/service.js";

/** A method as the transport sees it: who may call it, and the handler behind it. */
export interface Rpc {
  readonly method: DescMethod & { readonly input: DescMessage; readonly output: DescMessage };
  /** `/retinue.v1.AgentService/SpawnAgent`, its path in gRPC and Connect. */
  readonly path: string;
  /** `AgentService/SpawnAgent`, its name in audit and metrics. */
  readonly action: string;
  readonly access: Access;
  readonly handler: UnaryHandler | StreamHandler;
}

/** An answer as its handler gives it: a message, or what `create` makes one of. */
export type Reply = object;

export type UnaryHandler = (request: Message, context: CallContext) => Promise<Reply>;
export type StreamHandler = (request: Message, context: CallContext) => AsyncIterable<Message>;

export function replyMessage(rpc: Rpc, reply: Reply): Message {
  return create(rpc.method.output, reply as Readonly<Record<string, unknown>>);
}

/** All RPCs by path. Refuses, at boot, whatever would be callable without a rule about who may. */
export function rpcTable(services: readonly Service[]): ReadonlyMap<string, Rpc> {
  const table = new Map<string, Rpc>();
  for (const service of services) {
    for (const method of service.desc.methods) {
      const rpc = rpcOf(service, method);
      table.set(rpc.path, rpc);
    }
  }
  return table;
}

function rpcOf(service: Service, method: DescMethod): Rpc {
  const action = `${service.desc.name}/${method.name}`;
  if (method.methodKind !== "unary" && method.methodKind !== "server_streaming") {
    throw new Error(`${action}: only unary and server-streaming methods are served`);
  }
  if (!hasOption(method, access)) throw new Error(`${action}: lacks the option (retinue.v1.access)`);
  const rule = getOption(method, access);
  if (rule.rule.case === undefined) throw new Error(`${action}: (retinue.v1.access) is empty`);
  if (rule.rule.case === "scope" && !isScope(rule.rule.value)) {
    throw new Error(`${action}: (retinue.v1.access) names the unknown scope '${rule.rule.value}'`);
  }
  const handler = service.handlers[method.localName];
  if (typeof handler !== "function") throw new Error(`${action}: has no handler`);
  return {
    method,
    path: `/${service.desc.typeName}/${method.name}`,
    action,
    access: rule,
    handler: handler as UnaryHandler | StreamHandler,
  };
}
