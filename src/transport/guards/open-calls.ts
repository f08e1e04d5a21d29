import { type Caller, callerOf } from "../../domain/caller.js";
import { type Fault, permissionDenied, resourceExhausted, unauthenticated } from "../../domain/fault.js";
import type { KeyRecord } from "../../domain/key.js";
import { serverStopping } from "../call.js";

/** Calls that stay open: streams and waits. They end with their client, their key or the server. */
export interface OpenCalls {
  hold(caller: Caller, client: AbortSignal): { readonly signal: AbortSignal; release(): void };
  /** A key changed: ends its calls if it does not work any more, or not for all that it did. */
  keyChanged(record: KeyRecord): void;
  /** Ends the calls of keys that have expired. */
  sweep(nowMs: number): void;
  /** Tells every open call that the server stops. */
  stop(): void;
  readonly size: number;
}

interface Held {
  caller: Caller;
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
      const now = callerOf(record);
      for (const held of [...(byKey.get(record.keyId) ?? [])]) {
        // A call that was let in with more than the key has now is one that would not be let in again.
        if (record.revoked) held.end(unauthenticated());
        else if (!keeps(held.caller, now))
          held.end(permissionDenied("what the key allows has changed: call again"));
        else held.caller = now;
      }
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

function keeps(before: Caller, now: Caller): boolean {
  const shownLess =
    before.share !== undefined &&
    (now.share === undefined ||
      now.share.access < before.share.access ||
      (before.share.includeDescendants && !now.share.includeDescendants));
  return !shownLess && [...before.scopes].every((scope) => now.scopes.has(scope));
}
