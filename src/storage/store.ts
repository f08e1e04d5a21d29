import type { KeyRecord } from "../domain/key.js";
import type { AgentReads, AgentStoreChange, RetentionReads } from "./agent-rows.js";
import type { AutomationChange, AutomationReads } from "./automation-rows.js";

/**
 * The storage port: reads, and one way to write. Every engine must pass the conformance suite in
 * test/storage, which is the executable form of the promises below.
 *
 * - A commit is a list of changes that carry their own preconditions. It stands or falls as a whole,
 *   and alone: neighbours that share its sync are not touched by its failure.
 * - `commit` resolves only when the changes would survive a loss of power. Nothing is readable before.
 * - Commits are applied in the order in which `commit` was called.
 * - Time and ids come in as arguments: an engine reads no clock and makes no randomness.
 * - A read sees one committed state, never half a commit.
 */
export interface Store extends StoreReads, AgentReads, AutomationReads, RetentionReads {
  /**
   * Rejects with StaleCommit (a precondition did not hold, or an audit id is already there: nothing of this
   * commit was written), StoreFull (space runs out; reads go on), StoreBusy (too many commits pending, or another
   * process holds the lock), or a plain Error (values that the schema does not take, a closed store, or a writer that
   * died: then the outcome is unknown and the process exits).
   */
  commit(changes: readonly Change[]): Promise<void>;

  /** Writes a consistent copy of the whole store into a new file, refused if it exists, while the store stays in use. */
  backup(file: string): Promise<void>;

  /** Waits for pending commits, then releases the store. Idempotent. */
  close(): Promise<void>;
}

export interface StoreReads {
  /** The newest version, tombstones included. */
  resource(key: ResourceKey): Promise<StoredResource | undefined>;
  /** Live resources of one kind, by name, after `afterName`. */
  resources(query: ResourcesQuery): Promise<StoredResource[]>;
  /** Documents that name this one, by kind and name. */
  referrers(key: ResourceKey, limit: number): Promise<{ readonly kind: string; readonly name: string }[]>;
  /** Versions of one resource, newest first, older than `beforeGeneration`. */
  versions(query: VersionsQuery): Promise<ResourceVersion[]>;
  key(keyId: string): Promise<KeyRecord | undefined>;
  /** The sealed value of a secret. */
  sealed(tenant: string, name: string): Promise<Uint8Array | undefined>;
  /** Whether any key was ever stored: false only on a fresh store. */
  hasKeys(): Promise<boolean>;
  /** Everybody who has a key, a document or an agent here, or ever had. */
  tenants(): Promise<string[]>;
  /** Newest first. */
  audit(query: AuditQuery): Promise<AuditRecord[]>;
  /** IDs of the oldest records of a tenant, before this one. */
  oldestAudit(tenant: string, beforeAuditId: string, limit: number): Promise<string[]>;
}

/** Tenants are written `<provider_name>/<org>`, for example `codehost_app/local`. */
export interface ResourceKey {
  readonly tenant: string;
  readonly kind: string;
  readonly name: string;
}

export interface StoredResource extends ResourceKey {
  readonly generation: number;
  /** A tombstone keeps the generation, so that a re-created name goes on counting. */
  readonly deleted: boolean;
  /** Canonical ProtoJSON of the document without its `meta`; empty for a tombstone. */
  readonly document: string;
  readonly createdAtMs: number;
  readonly createdBy: string;
  readonly updatedAtMs: number;
  readonly updatedBy: string;
}

/** A document of the same tenant that another one names. */
export interface StoredReference {
  readonly kind: string;
  readonly name: string;
  /** Is there without being stored. */
  readonly builtin: boolean;
}

export interface ResourceVersion extends StoredResource {
  readonly justification: string;
}

export interface ResourcesQuery {
  readonly tenant: string;
  readonly kind: string;
  readonly afterName: string;
  readonly limit: number;
}

export interface VersionsQuery extends ResourceKey {
  readonly beforeGeneration: number | undefined;
  readonly limit: number;
}

export interface AuditRecord {
  /** Unique and ascending by time of the call; the caller mints it, so that a retry cannot write twice. */
  readonly auditId: string;
  readonly atMs: number;
  readonly tenant: string;
  /** `<provider_name>/<account>`, or `system`. */
  readonly actor: string;
  readonly keyId: string;
  /** RPC name, `CatalogService/PutResource`. */
  readonly action: string;
  /** What it was done to, `workspace/main`. */
  readonly target: string;
  readonly outcome: "DONE" | "REFUSED";
  readonly justification: string;
  readonly generationBefore: number;
  readonly generationAfter: number;
}

export interface AuditQuery {
  readonly tenant: string;
  readonly beforeAuditId: string | undefined;
  /** This one and later. */
  readonly fromAuditId: string | undefined;
  readonly outcome: AuditRecord["outcome"] | undefined;
  readonly actor: string | undefined;
  readonly action: string | undefined;
  readonly target: string | undefined;
  readonly limit: number;
}

export type Change =
  | ResourceChange
  | SealedChange
  | KeyChange
  | KeyUsedChange
  | AuditChange
  | AuditGoneChange
  | AgentStoreChange
  | AutomationChange;

/** Writes a new current version and appends it to the history. */
export interface ResourceChange {
  readonly type: "resource";
  readonly resource: StoredResource;
  readonly justification: string;
  /** Generation stored now, tombstones included; 0 = no row at all. */
  readonly ifGeneration: number;
  /** Replaces what the document names; absent for kinds that name nothing. Stale when one of them is not live. */
  readonly references?: readonly StoredReference[] | undefined;
  /** Stale when a document names this one. */
  readonly ifUnreferenced?: boolean;
}

/** Inserts a key or replaces what it may do; `lastUsedAtMs` of a stored key is left alone. */
export interface KeyChange {
  readonly type: "key";
  readonly key: KeyRecord;
}

/** Moves a key's last use forward; an unknown key is ignored. */
export interface KeyUsedChange {
  readonly type: "keyUsed";
  readonly keyId: string;
  readonly atMs: number;
}

/** Replaces the sealed value of a secret; undefined removes it. */
export interface SealedChange {
  readonly type: "sealed";
  readonly tenant: string;
  readonly name: string;
  readonly sealed: Uint8Array | undefined;
}

/** Removes records of a tenant up to this one. */
export interface AuditGoneChange {
  readonly type: "auditGone";
  readonly tenant: string;
  readonly upToAuditId: string;
}

export interface AuditChange {
  readonly type: "audit";
  readonly record: AuditRecord;
}

/** A precondition of the commit did not hold: load again, decide again. */
export class StaleCommit extends Error {
  override readonly name = "StaleCommit";
  constructor(readonly changeIndex: number) {
    super(`the precondition of change ${changeIndex} did not hold`);
  }
}

/** The disk is full: nothing was written, reads go on. */
export class StoreFull extends Error {
  override readonly name = "StoreFull";
}

/** More commits are pending than the store takes: come back later. */
export class StoreBusy extends Error {
  override readonly name = "StoreBusy";
}
