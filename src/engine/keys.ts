import type { Logger } from "pino";
import { type Caller, callerOf } from "../domain/caller.js";
import { unauthenticated } from "../domain/fault.js";
import { isLive, type KeyParts, type KeyRecord, parseKey, secretMatches } from "../domain/key.js";
import type { Store } from "../storage/store.js";
import type { Clock } from "./clock.js";

/** Knows who is behind a key, and forgets a key the moment it dies. */
export interface Keys {
  /** The caller behind a key; throws UNAUTHENTICATED. Answers at once for a key seen before. */
  authenticate(key: KeyParts): Caller | Promise<Caller>;
  /** A key was committed: from here on the new record counts, and who holds calls open is told. */
  changed(record: KeyRecord): void;
  onChanged(listener: (record: KeyRecord) => void): void;
}

interface Known {
  readonly record: KeyRecord;
  readonly caller: Caller;
  lastUsedAtMs: number;
}

/** Keys held in memory; beyond that the store is asked again, which costs microseconds. */
const MAX_KNOWN = 10_000;
const USE_RECORDED_EVERY_MS = 60_000;

export function createKeys(store: Store, clock: Clock, log: Logger): Keys {
  const known = new Map<string, Known>();
  const listeners: ((record: KeyRecord) => void)[] = [];

  function remember(record: KeyRecord): Known {
    if (known.size >= MAX_KNOWN) known.clear();
    const entry = { record, caller: callerOf(record), lastUsedAtMs: record.lastUsedAtMs ?? 0 };
    known.set(record.keyId, entry);
    return entry;
  }

  function use(entry: Known, secret: string): Caller {
    const nowMs = clock.nowMs();
    if (!secretMatches(secret, entry.record) || !isLive(entry.record, nowMs)) throw unauthenticated();
    if (nowMs - entry.lastUsedAtMs >= USE_RECORDED_EVERY_MS) {
      entry.lastUsedAtMs = nowMs;
      store
        .commit([{ type: "keyUsed", keyId: entry.record.keyId, atMs: nowMs }])
        .catch((err: unknown) => log.warn({ err }, "could not record the use of a key"));
    }
    return entry.caller;
  }

  async function lookUp(keyId: string, secret: string): Promise<Caller> {
    const record = await store.key(keyId);
    if (record === undefined) {
      secretMatches(secret, undefined);
      throw unauthenticated();
    }
    // A key that was changed while it was being read is known by now, and newer than what was read.
    return use(known.get(keyId) ?? remember(record), secret);
  }

  return {
    authenticate({ keyId, secret }): Caller | Promise<Caller> {
      const entry = known.get(keyId);
      return entry ? use(entry, secret) : lookUp(keyId, secret);
    },
    changed(record) {
      remember(record);
      for (const listener of listeners) listener(record);
    },
    onChanged(listener) {
      listeners.push(listener);
    },
  };
}

/** Reads `Bearer rtn_…`; anything else is no credential. */
export function bearerOf(authorization: string | undefined): KeyParts {
  if (authorization === undefined || !/^bearer /i.test(authorization)) throw unauthenticated();
  const key = parseKey(authorization.slice(7).trim());
  if (key === undefined) throw unauthenticated();
  return key;
}
