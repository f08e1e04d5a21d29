import type { DescMethod, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import { type Caller, requireJustification } from "../domain/caller.js";
import type { Act } from "../engine/audit.js";

/** What a handler knows about a call beside its message. */
export interface CallContext {
  readonly caller: Caller;
  /** `AgentService/SpawnAgent`: how audit names the call. */
  readonly action: string;
  /** Aborted when the client goes away, its deadline passes, its key dies, or the server stops. */
  readonly signal: AbortSignal;
}

type Handler<M extends DescMethod> = M["methodKind"] extends "server_streaming"
  ? (request: MessageShape<M["input"]>, context: CallContext) => AsyncIterable<MessageInitShape<M["output"]>>
  : (request: MessageShape<M["input"]>, context: CallContext) => Promise<MessageInitShape<M["output"]>>;

/** One handler per method of a service: a missing one is a type error. */
export type Handlers<S extends DescService> =
  S extends GenService<infer Methods extends GenServiceMethods>
    ? { [Name in keyof Methods]: Handler<S["method"][Name]> }
    : never;

/** Who acts and why, for audit. Operators of the platform must say why; `field` is where they do. */
export function actOf({ caller, action }: CallContext, justification: string, field = "justification"): Act {
  requireJustification(caller, field, justification);
  return { caller, action, justification };
}

/** A service with its handlers, ready to be mounted by every adapter of the transport. */
export interface Service {
  readonly desc: DescService;
  readonly handlers: Readonly<Record<string, unknown>>;
}

export function implement<S extends DescService>(desc: S, handlers: Handlers<S>): Service {
  return { desc, handlers: handlers as Readonly<Record<string, unknown>> };
}
