import { type Signal, signal } from "@preact/signals";
import { catalog } from "./api.js";

const known = new Map<string, Signal<readonly string[]>>();

/** Names of the documents of a kind, to be offered in forms; empty where the key may not read them. */
export function namesOf(kind: string): Signal<readonly string[]> {
  let names = known.get(kind);
  if (names === undefined) {
    names = signal<readonly string[]>([]);
    known.set(kind, names);
    const found = names;
    catalog.listResources({ ref: { kind }, pageSize: 200 }).then(
      ({ entries }) => {
        found.value = entries.map(({ name }) => name);
      },
      () => known.delete(kind),
    );
  }
  return names;
}
