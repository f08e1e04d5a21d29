import type { Caller } from "../../domain/caller.js";
import { type Fault, resourceExhausted, unauthenticated } from "../../domain/fault.js";
import type { KeyRecord } from "../../domain/key.js";
import { serverStopping } from "../call.js";

/** Calls that stay open: streams and waits. They end with their client, their key or the server. */
export interface OpenCalls {
  hold(caller: Caller, client: AbortSignal): { readonly signal: AbortSignal; release(): void };
  /** A key changed: ends its calls if it does not work any more. */
  keyChanged(record: KeyRecord): void;
  /** Ends the calls of keys that have expired. */
  sweep(nowMs: number): void;
  /** Tells every open call that the server stops. */
  stop(): void;
  readonly size: number;
}

interface Held {
  readonly caller: Caller;
  end(fault: Fault): void;
}

export function createOpenCalls(maxPerKey: number): OpenCalls {
  const byKey = new Map<string, Set<Held>>();
  let size = 0;

  const all = () => [...byKey.values()].flatMap((held) => [...held]);

  return {
    hold(caller, client) {
      const held = byKey.get(caller.keyId) ?? new Set();
      if (held.size >= maxPerKey) {
        throw resourceExhausted(
          "TOO_MANY_STREAMS",
          `the key may hold ${maxPerKey} streams and waits open at once`,
        );
      }
      const controller = new AbortController();
      const onClient = () => controller.abort(client.reason);
      if (client.aborted) onClient();
      // Plain listeners: AbortSignal.any() on long-lived signals leaks in some versions of Node.
      else client.addEventListener("abort", onClient, { once: true });
      const entry: Held = { caller, end: (fault) => controller.abort(fault) };
      held.add(entry);
      byKey.set(caller.keyId, held);
      size++;
      return {
        signal: controller.signal,
        release() {
          client.removeEventListener("abort", onClient);
          if (!held.delete(entry)) return;
          size--;
          if (held.size === 0 && byKey.get(caller.keyId) === held) byKey.delete(caller.keyId);
        },
      };
    },
    keyChanged(record) {
      if (!record.revoked) return;
      for (const held of [...(byKey.get(record.keyId) ?? [])]) held.end(unauthenticated());
    },
    sweep(nowMs) {
      for (const held of all()) {
        const { expiresAtMs } = held.caller;
        if (expiresAtMs !== undefined && expiresAtMs <= nowMs) held.end(unauthenticated());
      }
    },
    stop() {
      for (const held of all()) held.end(serverStopping());
    },
    get size() {
      return size;
    },
  };
}
