import { fromJsonString } from "@bufbuild/protobuf";
import type { Document, Kind } from "../../domain/catalog/kind.js";
import { secret } from "../../domain/catalog/kinds/secret.js";
import { shareLink } from "../../domain/catalog/kinds/share-link.js";
import { token } from "../../domain/catalog/kinds/token.js";
import type { KeyRecord } from "../../domain/key.js";
import type { Change, ResourceKey, Store, StoredResource } from "../../storage/store.js";

/** What the door holds for a document: its newest version, and what is kept beside it. */
export interface CatalogValue {
  readonly stored: StoredResource | undefined;
  /** The key that a token or share link stands for. */
  readonly key?: KeyRecord | undefined;
  /** The value of a secret. */
  readonly sealed?: Uint8Array | undefined;
}

/** The documents that a decision looks at beside its own, in the state that it is made against. */
export interface Look {
  value(ref: ResourceKey): CatalogValue;
  /** Who names a document: as stored, because the commit asks once more. */
  referrers(ref: ResourceKey): readonly Referrer[];
}

export interface Referrer {
  readonly kind: string;
  readonly name: string;
}

/** One more than is shown tells that there are more. */
const REFERRERS_READ = 21;

const WITH_KEY: ReadonlySet<string> = new Set([token.name, shareLink.name]);

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

/** Where the door finds who names a document. Never staged: no tenant is called so. */
export function referrersKey(key: ResourceKey): string {
  return `${REFERRERS}\n${doorKey(key)}`;
}

const REFERRERS = "referrers";

/** What the door holds: a document, or who names one. */
export interface DoorValue extends CatalogValue {
  readonly referrers?: readonly Referrer[];
}

export async function loadValue(store: Store, text: string): Promise<DoorValue> {
  const parts = text.split("\n");
  const ofReferrers = parts[0] === REFERRERS;
  const [tenant = "", kind = "", name = ""] = ofReferrers ? parts.slice(1) : parts;
  if (ofReferrers) {
    const referrers = await store.referrers({ tenant, kind, name }, REFERRERS_READ);
    return { stored: undefined, referrers };
  }
  const stored = await store.resource({ tenant, kind, name });
  if (stored === undefined || stored.deleted) return { stored };
  if (kind === secret.name) return { stored, sealed: await store.sealed(tenant, name) };
  return { stored, key: await keyOf(store, stored) };
}

/** The key of a document that stands for one. */
export async function keyOf(store: Store, stored: StoredResource): Promise<KeyRecord | undefined> {
  if (!WITH_KEY.has(stored.kind)) return undefined;
  return store.key((JSON.parse(stored.document) as { keyId: string }).keyId);
}

/** The version that readers see; a tombstone is none. */
export function liveOf(value: CatalogValue): StoredResource | undefined {
  return value.stored && !value.stored.deleted ? value.stored : undefined;
}

export function documentOf<D extends Document>(kind: Kind<D>, stored: StoredResource): D {
  // Written by a newer build, a document may hold fields that this one does not know.
  return fromJsonString(kind.schema, stored.document, { ignoreUnknownFields: true });
}
