import { fromJsonString } from "@bufbuild/protobuf";
import type { Document, Kind } from "../../domain/catalog/kind.js";
import { token } from "../../domain/catalog/kinds/token.js";
import type { KeyRecord } from "../../domain/key.js";
import type { Change, ResourceKey, Store, StoredResource } from "../../storage/store.js";

/** What the door holds for a document: its newest version, and the key it stands for if it is a token. */
export interface CatalogValue {
  readonly stored: StoredResource | undefined;
  readonly key: KeyRecord | undefined;
}

/** What is to be written: the new value of each document, in the order in which they were asked for. */
export interface CatalogDecision<R> {
  readonly values: readonly CatalogValue[];
  readonly changes: readonly Change[];
  readonly reply: R;
}

/** Names never hold a line break, so this is unique. */
export function doorKey(key: ResourceKey): string {
  return `${key.tenant}\n${key.kind}\n${key.name}`;
}

export async function loadValue(store: Store, text: string): Promise<CatalogValue> {
  const [tenant = "", kind = "", name = ""] = text.split("\n");
  const stored = await store.resource({ tenant, kind, name });
  const key = kind === token.name && stored && !stored.deleted ? await store.key(keyIdOf(stored)) : undefined;
  return { stored, key };
}

/** The version that readers see; a tombstone is none. */
export function liveOf(value: CatalogValue): StoredResource | undefined {
  return value.stored && !value.stored.deleted ? value.stored : undefined;
}

export function documentOf<D extends Document>(kind: Kind<D>, stored: StoredResource): D {
  // Written by a newer build, a document may hold fields that this one does not know.
  return fromJsonString(kind.schema, stored.document, { ignoreUnknownFields: true });
}

export function keyIdOf(stored: StoredResource): string {
  return documentOf(token, stored).keyId;
}
