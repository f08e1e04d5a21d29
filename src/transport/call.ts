import { create, type Message } from "@bufbuild/protobuf";
import type { Logger } from "pino";
import { Code } from "../../gen/google/rpc/code_pb.js";
import type { Caller } from "../domain/caller.js";
import { Fault, internal, unavailable } from "../domain/fault.js";
import { checkEnums } from "../domain/message-enums.js";
import type { CallContext } from "../services/service.js";
import { authorize } from "./guards/authorize.js";
import type { Reply, Rpc, StreamHandler, UnaryHandler } from "./rpc.js";

/** What an adapter knows of a request beside its message. */
export interface Incoming {
  /** The Authorization header as it came. */
  readonly authorization: string | undefined;
  /**
   * Aborted when the client has gone or its deadline has passed. A getter in every adapter: most calls
   * never look, and an AbortController per call costs more than the call.
   */
  readonly signal: AbortSignal;
}

/** What `call` needs from the rest of the house. */
export interface CallGuards {
  /** The caller behind a header; a Fault when there is none. */
  authenticate(authorization: string | undefined): Caller | Promise<Caller>;
  /** Refuses a caller that asks too often. */
  admit(caller: Caller): void;
  /** A signal that also ends when the key dies or the server stops; undone by `release`. */
  holdOpen(caller: Caller, signal: AbortSignal): { readonly signal: AbortSignal; release(): void };
  /** A valid key asked for what it may not do. */
  refused(caller: Caller, rpc: Rpc): void;
  /** The call is over. */
  finished(rpc: Rpc, code: Code, tookMs: number): void;
  readonly log: Logger;
}

/**
 * THE way into a service. Key, rate, scope, error mapping, audit of refusals and metrics happen here, once,
 * whatever the protocol; adapters only turn bytes into messages and back.
 */
export interface Call {
  unary(rpc: Rpc, request: Request, incoming: Incoming): Promise<Reply>;
  stream(rpc: Rpc, request: Request, incoming: Incoming): AsyncIterable<Message>;
}

/** Decoded already, or to be decoded once the key is known: who has none learns nothing about their request. */
export type Request = Message | (() => Message);

export function decoded(request: Request): Message {
  return typeof request === "function" ? request() : request;
}

export function createCall(guards: CallGuards): Call {
  /** Everything that comes between the key and the handler. */
  function enter(rpc: Rpc, request: Request, incoming: Incoming, visit: Visit, caller: Caller): Message {
    visit.caller = caller;
    guards.admit(caller);
    const message = decoded(request);
    checkEnums(rpc.method.input, message);
    authorize(caller, rpc, message);
    visit.context = new HeldContext(guards, rpc, caller, incoming);
    return message;
  }

  /** The fault that the client is shown; what is no fault is a bug, told to the log only. */
  function faultOf(rpc: Rpc, error: unknown, incoming: Incoming, visit: Visit): Fault {
    const fault = toFault(error, incoming);
    if (fault.code === Code.PERMISSION_DENIED && visit.caller) guards.refused(visit.caller, rpc);
    if (fault.code === Code.INTERNAL) guards.log.error({ err: error, rpc: rpc.action }, "unexpected error");
    visit.code = fault.code;
    return fault;
  }

  function leave(rpc: Rpc, visit: Visit): void {
    visit.context?.release();
    guards.finished(rpc, visit.code, performance.now() - visit.startedAt);
  }

  return {
    async unary(rpc, request, incoming) {
      const visit: Visit = { startedAt: performance.now(), code: Code.OK };
      try {
        const known = guards.authenticate(incoming.authorization);
        // A key that was seen before is known at once: waiting for it would cost every call a turn of the loop.
        const message = enter(rpc, request, incoming, visit, known instanceof Promise ? await known : known);
        return await (rpc.handler as UnaryHandler)(message, visit.context as HeldContext);
      } catch (error) {
        throw faultOf(rpc, error, incoming, visit);
      } finally {
        leave(rpc, visit);
      }
    },

    // No generator: while it is suspended one keeps the last message, and streams may be silent for hours.
    stream(rpc, request, incoming) {
      const visit: Visit = { startedAt: performance.now(), code: Code.OK };
      let replies: AsyncIterator<Message> | undefined;
      let over = false;
      // Let go once it is read: it may hold the whole HTTP request.
      let asked: Request | undefined = request;
      function end(): typeof DONE {
        if (!over) leave(rpc, visit);
        over = true;
        return DONE;
      }
      function begin(caller: Caller): AsyncIterator<Message> {
        const message = enter(rpc, asked as Request, incoming, visit, caller);
        asked = undefined;
        return (rpc.handler as StreamHandler)(message, visit.context as HeldContext)[Symbol.asyncIterator]();
      }
      const iterator: AsyncIterableIterator<Message> = {
        [Symbol.asyncIterator]: () => iterator,
        async next() {
          if (over) return DONE;
          try {
            const caller = replies ? undefined : await guards.authenticate(incoming.authorization);
            if (over) return DONE;
            replies ??= begin(caller as Caller);
            const next = await replies.next();
            return next.done ? end() : { done: false, value: create(rpc.method.output, next.value) };
          } catch (error) {
            const fault = over ? error : faultOf(rpc, error, incoming, visit);
            end();
            replies?.return?.().catch(() => {});
            throw fault;
          }
        },
        async return() {
          try {
            await replies?.return?.();
          } finally {
            end();
          }
          return DONE;
        },
      };
      return iterator;
    },
  };
}

const DONE = { done: true, value: undefined } as const;

/** What becomes known of a call as it goes on. */
interface Visit {
  readonly startedAt: number;
  code: Code;
  caller?: Caller;
  context?: HeldContext;
}

function toFault(error: unknown, incoming: Incoming): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError")) {
    return abortFault(incoming.signal);
  }
  return internal();
}

/** Context of one call; ties the client's signal to key and server only when the handler asks for it. */
class HeldContext implements CallContext {
  #held: { readonly signal: AbortSignal; release(): void } | undefined;

  constructor(
    private readonly guards: CallGuards,
    private readonly rpc: Rpc,
    readonly caller: Caller,
    private readonly incoming: Incoming,
  ) {}

  get action(): string {
    return this.rpc.action;
  }

  get signal(): AbortSignal {
    this.#held ??= this.guards.holdOpen(this.caller, this.incoming.signal);
    return this.#held.signal;
  }

  release(): void {
    this.#held?.release();
  }
}

/** The reason of an abort, where it says why; a client that just left is CANCELLED. */
export function abortFault(signal: AbortSignal): Fault {
  const reason: unknown = signal.reason;
  if (reason instanceof Fault) return reason;
  if (reason instanceof Error && reason.name === "TimeoutError") return deadlineExceeded();
  return new Fault(Code.CANCELLED, "CLIENT_CLOSED_REQUEST", "the client cancelled the call");
}

export function deadlineExceeded(): Fault {
  return new Fault(Code.DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED", "the client's deadline passed");
}

export function serverStopping(): Fault {
  return unavailable("SERVER_STOPPING", "the server is stopping: try again");
}
