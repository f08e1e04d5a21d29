import { assemblePayload, canonicalJson } from "../../domain/catalog/document.js";
import type { Kind } from "../../domain/catalog/kind.js";
import { lastUse, token } from "../../domain/catalog/kinds/token.js";
import type { ResourceKey, ResourceVersion, Store, StoredResource } from "../../storage/store.js";
import { resourceNotFound } from "./put.js";
import { keyIdOf } from "./values.js";

/** A document as readers see it. */
export interface ReadResource {
  readonly name: string;
  readonly payload: Uint8Array;
  readonly generation: number;
}

export interface CatalogReads {
  get(kind: Kind, ref: ResourceKey): Promise<ReadResource>;
  list(kind: Kind, tenant: string, afterName: string, limit: number): Promise<ReadResource[]>;
  versions(ref: ResourceKey, beforeGeneration: number | undefined, limit: number): Promise<ResourceVersion[]>;
}

export function createCatalogReads(store: Store): CatalogReads {
  async function present(kind: Kind, stored: StoredResource): Promise<ReadResource> {
    // When a key was last used changes too often to be a version of its document.
    const live = kind.name === token.name ? lastUse(await store.key(keyIdOf(stored))) : undefined;
    return {
      name: stored.name,
      payload: assemblePayload(stored.document, stored, live),
      generation: kind.notWritable ? 0 : stored.generation,
    };
  }

  return {
    async get(kind, ref) {
      const stored = await store.resource(ref);
      if (stored && !stored.deleted) return present(kind, stored);
      const builtin = readBuiltin(kind, ref.name);
      if (builtin === undefined) throw resourceNotFound(ref);
      return builtin;
    },

    async list(kind, tenant, afterName, limit) {
      const stored = await store.resources({ tenant, kind: kind.name, afterName, limit });
      const shadowed = new Set(stored.map((resource) => resource.name));
      const builtins = [...kind.builtins.keys()].filter((name) => name > afterName && !shadowed.has(name));
      const entries = await Promise.all(stored.map((resource) => present(kind, resource)));
      for (const name of builtins) entries.push(readBuiltin(kind, name) as ReadResource);
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      return entries.slice(0, limit);
    },

    async versions(ref, beforeGeneration, limit) {
      const versions = await store.versions({ ...ref, beforeGeneration, limit });
      if (versions.length === 0 && beforeGeneration === undefined) throw resourceNotFound(ref);
      return versions;
    },
  };
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
