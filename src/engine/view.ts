import type { Staged } from "./door.js";

/** The values that a decision looks at: staged ones first, then what was loaded for it. */
export interface View<V> {
  /** Throws Missing for a value that is not in memory; the door loads it and decides again. */
  get(key: string): V;
}

/** Thrown through a decision, never out of the door: no Error, whose stack costs more than what is loaded. */
export class Missing {
  constructor(readonly key: string) {}
}

interface OpenView<V> extends View<V> {
  /** What a reply rests on. */
  readonly seen: Iterable<Staged<V>>;
  loaded(key: string, value: V): void;
}

export function createView<V>(staged: ReadonlyMap<string, Staged<V>>): OpenView<V> {
  const seen = new Set<Staged<V>>();
  const loaded = new Map<string, V>();
  return {
    seen,
    loaded: (key, value) => void loaded.set(key, value),
    get(key) {
      // Loading gives others a turn: what they staged meanwhile is newer than what was loaded.
      const entry = staged.get(key);
      if (entry) {
        seen.add(entry);
        return entry.value;
      }
      if (!loaded.has(key)) throw new Missing(key);
      return loaded.get(key) as V;
    },
  };
}
