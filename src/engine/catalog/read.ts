import type { Caller } from "../../domain/caller.js";
import { assemblePayload, canonicalJson } from "../../domain/catalog/document.js";
import type { Kind } from "../../domain/catalog/kind.js";
import { lastUse } from "../../domain/catalog/kinds/token.js";
import type { ResourceKey, ResourceVersion, Store, StoredResource } from "../../storage/store.js";
import { resourceNotFound } from "./put.js";
import { documentOf, keyOf } from "./values.js";

/** A document as readers see it. */
export interface ReadResource {
  readonly name: string;
  readonly payload: Uint8Array;
  readonly generation: number;
}

export interface ListQuery {
  readonly tenant: string;
  readonly afterName: string;
  readonly limit: number;
}

export interface CatalogReads {
  get(kind: Kind, ref: ResourceKey, caller: Caller): Promise<ReadResource>;
  list(kind: Kind, query: ListQuery, caller: Caller): Promise<ReadResource[]>;
  versions(
    kind: Kind,
    query: ResourceKey & { readonly beforeGeneration: number | undefined; readonly limit: number },
    caller: Caller,
  ): Promise<ResourceVersion[]>;
}

export function createCatalogReads(store: Store): CatalogReads {
  async function present(kind: Kind, stored: StoredResource): Promise<ReadResource> {
    // When a key was last used changes too often to be a version of its document.
    const live = lastUse(await keyOf(store, stored));
    return {
      name: stored.name,
      payload: assemblePayload(stored.document, stored, live),
      generation: kind.notWritable ? 0 : stored.generation,
    };
  }

  /** As many as are asked for, of those that the caller may see. */
  async function visible(kind: Kind, query: ListQuery, caller: Caller): Promise<StoredResource[]> {
    const rows = await store.resources({ ...query, kind: kind.name });
    const seen = rows.filter((row) => isFor(kind, row, caller));
    const last = rows.at(-1);
    if (last === undefined || rows.length < query.limit || seen.length === rows.length) return seen;
    const more = { ...query, afterName: last.name, limit: query.limit - seen.length };
    return [...seen, ...(await visible(kind, more, caller))];
  }

  return {
    async get(kind, ref, caller) {
      const stored = await store.resource(ref);
      if (stored && !stored.deleted && isFor(kind, stored, caller)) return present(kind, stored);
      const builtin = readBuiltin(kind, ref.name);
      if (builtin === undefined) throw resourceNotFound(ref);
      return builtin;
    },

    async list(kind, query, caller) {
      const { afterName, limit } = query;
      const stored = await visible(kind, query, caller);
      const shadowed = new Set(stored.map((resource) => resource.name));
      const builtins = [...kind.builtins.keys()].filter((name) => name > afterName && !shadowed.has(name));
      const entries = await Promise.all(stored.map((resource) => present(kind, resource)));
      for (const name of builtins) entries.push(readBuiltin(kind, name) as ReadResource);
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      return entries.slice(0, limit);
    },

    async versions(kind, query, caller) {
      const rows = await store.versions(query);
      const versions = rows.filter((row) => row.deleted || isFor(kind, row, caller));
      if (versions.length === 0 && query.beforeGeneration === undefined) throw resourceNotFound(query);
      return versions;
    },
  };
}

function isFor(kind: Kind, stored: StoredResource, caller: Caller): boolean {
  return kind.isFor === undefined || kind.isFor(documentOf(kind, stored), caller);
}

/** Builtins never change while the process lives. */
const builtinPayloads = new WeakMap<object, Uint8Array>();

function readBuiltin(kind: Kind, name: string): ReadResource | undefined {
  const document = kind.builtins.get(name);
  if (document === undefined) return undefined;
  const payload = builtinPayloads.get(document) ?? assemblePayload(canonicalJson(kind, document), undefined);
  builtinPayloads.set(document, payload);
  return { name, payload, generation: 0 };
}
