import type { DescMethod, Message } from "@bufbuild/protobuf";
import { Code as ConnectCode, ConnectError, type HandlerContext, type MethodImpl } from "@connectrpc/connect";
import { Fault, internal } from "../../domain/fault.js";
import { abortFault, type Call, type Incoming } from "../call.js";
import { clientGone, deadlinePassed } from "../grpc/deadline.js";
import { sendable } from "../limits.js";
import { type Rpc, replyMessage } from "../rpc.js";
import { readerTooSlow, SLOW_READER_MS } from "../slow-reader.js";
import { toConnectError } from "../status.js";

/** What Connect calls for an RPC: `call`, with Connect's context and errors turned into ours and back. */
export function implementation(rpc: Rpc, call: Call): MethodImpl<DescMethod> {
  return (rpc.method.methodKind === "unary" ? unary(rpc, call) : stream(rpc, call)) as MethodImpl<DescMethod>;
}

function unary(rpc: Rpc, call: Call) {
  return async (request: Message, context: HandlerContext): Promise<Message> => {
    const held = new HeldCall(context);
    try {
      return replyMessage(rpc, await held.untilAborted(() => call.unary(rpc, request, held)));
    } catch (error) {
      throw connectErrorOf(error);
    } finally {
      held.release();
    }
  };
}

function stream(rpc: Rpc, call: Call) {
  return async function* (request: Message, context: HandlerContext): AsyncIterable<Message> {
    const held = new HeldCall(context);
    const replies = call.stream(rpc, request, held)[Symbol.asyncIterator]();
    let slow: NodeJS.Timeout | undefined;
    try {
      for (;;) {
        const next = await held.untilAborted(() => replies.next());
        if (next.done) return;
        // Connect asks for more when the client has room for it. The stream itself cannot be cut from here.
        slow = setTimeout(() => {
          held.end(readerTooSlow());
          replies.return?.().catch(() => {});
        }, SLOW_READER_MS);
        yield next.value;
        clearTimeout(slow);
      }
    } catch (error) {
      throw connectErrorOf(error);
    } finally {
      clearTimeout(slow);
      held.release();
      // Not awaited: it waits for a handler that may not have seen the signal yet.
      replies.return?.().catch(() => {});
    }
  };
}

function connectErrorOf(error: unknown): ConnectError {
  return toConnectError(error instanceof Fault ? sendable(error) : internal());
}

/** A call on its way through Connect. Its signal says why in our words: Connect's reasons are its errors. */
class HeldCall implements Incoming {
  readonly #controller = new AbortController();
  readonly #abort = () => this.end(reasonOf(this.context.signal));
  #reject: ((fault: Fault) => void) | undefined;

  constructor(private readonly context: HandlerContext) {
    if (context.signal.aborted) this.#abort();
    else context.signal.addEventListener("abort", this.#abort);
  }

  get authorization(): string | undefined {
    return this.context.requestHeader.get("authorization") ?? undefined;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(reason: unknown): void {
    this.#controller.abort(reason);
    this.#reject?.(abortFault(this.signal));
  }

  /** The client's deadline holds even if the handler does not look at the signal. */
  untilAborted<T>(start: () => Promise<T>): Promise<T> {
    if (this.signal.aborted) return Promise.reject(abortFault(this.signal));
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      start().then(resolve, reject);
    });
  }

  release(): void {
    this.context.signal.removeEventListener("abort", this.#abort);
  }
}

function reasonOf(signal: AbortSignal): unknown {
  const reason: unknown = signal.reason;
  if (reason instanceof Fault) return reason;
  const timedOut = reason instanceof ConnectError && reason.code === ConnectCode.DeadlineExceeded;
  return timedOut ? deadlinePassed() : clientGone();
}
