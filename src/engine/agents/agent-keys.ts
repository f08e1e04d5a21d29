import { timingSafeEqual } from "node:crypto";
import type { AgentKey } from "../../domain/agent/agent.js";
import type { Fence } from "../../domain/agent/turn.js";
import type { Caller } from "../../domain/caller.js";
import { formatKey, hashSecret, type KeyParts, parseKey } from "../../domain/key.js";
import type { Clock } from "../clock.js";

/**
 * Keys of agents' own processes. They live in memory only: a process dies with its server, and its key with it.
 * A key speaks for the attempt that its process works on, and for nothing while it works on none.
 */
export interface AgentKeys {
  mint(agent: { readonly uid: string; readonly key: AgentKey }): string;
  /** The attempt that the key's process works on from now on; undefined: none. */
  bind(key: string, fence: Fence | undefined): void;
  forget(key: string): void;
  /** Undefined for a key that is not of an agent; a caller without a turn for one that works on none. */
  find(key: KeyParts): Caller | undefined;
}

interface Entry {
  readonly uid: string;
  readonly caller: Caller;
  readonly secretSha256: Uint8Array;
  fence: Fence | undefined;
}

export function createAgentKeys(clock: Clock): AgentKeys {
  const entries = new Map<string, Entry>();
  const entryOf = (key: string) => entries.get(parseKey(key)?.keyId ?? "");
  return {
    mint({ uid, key: { tenant, ownerProvider, account } }) {
      const parts = clock.newKey();
      const { keyId } = parts;
      const whose = { tenant, ownerProvider, account, keyId, keyName: `agent ${uid}`, role: "agent" };
      const caller: Caller = { ...whose, scopes: new Set(), expiresAtMs: undefined };
      entries.set(keyId, { uid, caller, secretSha256: hashSecret(parts.secret), fence: undefined });
      return formatKey(parts);
    },
    bind(key, fence) {
      const entry = entryOf(key);
      if (entry) entry.fence = fence;
    },
    forget(key) {
      entries.delete(parseKey(key)?.keyId ?? "");
    },
    find({ keyId, secret }) {
      const entry = entries.get(keyId);
      if (entry === undefined) return undefined;
      if (!timingSafeEqual(hashSecret(secret), entry.secretSha256)) return undefined;
      const { uid, caller, fence } = entry;
      return fence ? { ...caller, turn: { uid, runId: fence.runId, attempt: fence.attempt } } : caller;
    },
  };
}
