import type { Reference } from "../kind.js";

/** The document that a field names; empty names none. */
export function namedDocument(field: string, kind: string, name: string): Reference[] {
  return name === "" ? [] : [{ field, kind, name }];
}
