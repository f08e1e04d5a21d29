import { Code } from "../../gen/google/rpc/code_pb.js";
import { Fault, resourceExhausted, unavailable } from "../domain/fault.js";
import { type Change, StaleCommit, type Store, StoreBusy, StoreFull } from "../storage/store.js";
import { createView, Missing, type View } from "./view.js";

/** What a decision makes of the values it looked at. */
export interface Decision<V, R> {
  /** The new value of each key that changed. */
  readonly values: ReadonlyMap<string, V>;
  /** Empty: nothing to write; the reply still waits until what was looked at is committed. */
  readonly changes: readonly Change[];
  readonly reply: R;
}

/**
 * All change goes through here: load, decide, commit. To load, decide and commit one after the other would
 * give one success per sync on a busy key, so decisions are made against the newest *staged* value, which
 * may not be committed yet. Commits are applied in staging order and carry preconditions: when one fails,
 * its keys' staged values are dropped, and those who built on them fail in turn and decide again.
 * Replies and faults leave only after everything they rest on is committed.
 */
export interface Door<V> {
  /** `decide` is pure: it runs again whenever it lacked a value or lost a race. */
  change<R>(decide: (view: View<V>) => Decision<V, R>): Promise<R>;
}

export interface Staged<V> {
  readonly value: V;
  /** Undefined once it is. */
  committed: Promise<void> | undefined;
}

export interface DoorOptions<V> {
  readonly store: Store;
  readonly load: (key: string) => Promise<V>;
  /** Committed values kept in memory; ours is the only process that writes them. */
  readonly remember: number;
}

/** A key that loses this many races in a row is in trouble that another try will not mend. */
const MAX_ATTEMPTS = 100;

export function createDoor<V>({ store, load, remember }: DoorOptions<V>): Door<V> {
  const staged = new Map<string, Staged<V>>();

  /** Keeps the newest; what is forgotten is loaded again when it is asked for. */
  function forgetOldest(): void {
    for (const [key, entry] of staged) {
      if (staged.size <= remember) return;
      if (entry.committed === undefined) staged.delete(key);
    }
  }

  function stage(values: ReadonlyMap<string, V>, changes: readonly Change[]): Promise<void> {
    const committed = store.commit(changes);
    const entries = new Map<string, Staged<V>>();
    for (const [key, value] of values) entries.set(key, { value, committed });
    for (const [key, entry] of entries) {
      staged.delete(key);
      staged.set(key, entry);
    }
    committed.then(
      () => {
        for (const entry of entries.values()) entry.committed = undefined;
        if (staged.size > remember) forgetOldest();
      },
      () => {
        for (const key of entries.keys()) staged.delete(key);
      },
    );
    return committed;
  }

  /** One try; undefined when what it was decided on did not come to be. */
  async function attempt<R>(decide: (view: View<V>) => Decision<V, R>): Promise<{ reply: R } | undefined> {
    const view = createView(staged);
    let decision: Decision<V, R>;
    for (;;) {
      try {
        decision = decide(view);
        break;
      } catch (error) {
        if (error instanceof Missing) view.loaded(error.key, await load(error.key));
        else if (await settled(view.seen)) throw error;
        else return undefined;
      }
    }
    if (decision.changes.length === 0)
      return (await settled(view.seen)) ? { reply: decision.reply } : undefined;
    try {
      await stage(decision.values, decision.changes);
    } catch (error) {
      if (error instanceof StaleCommit) return undefined;
      throw storeFault(error);
    }
    return { reply: decision.reply };
  }

  return {
    async change(decide) {
      for (let i = 0; i < MAX_ATTEMPTS; i++) {
        const done = await attempt(decide);
        if (done) return done.reply;
      }
      throw new Fault(
        Code.ABORTED,
        "CONTENTION",
        "what this changes is changed by others too fast: try again",
      );
    },
  };
}

async function settled(seen: Iterable<Staged<unknown>>): Promise<boolean> {
  try {
    for (const entry of seen) if (entry.committed) await entry.committed;
    return true;
  } catch {
    return false;
  }
}

/** What a caller is told when the store could not take a commit. */
function storeFault(error: unknown): unknown {
  if (error instanceof StoreFull) {
    return resourceExhausted(
      "STORAGE_FULL",
      "the server's disk is full: nothing was written; reads still work",
    );
  }
  if (error instanceof StoreBusy)
    return unavailable("STORAGE_BUSY", "too many writes are pending: try again");
  return error;
}
