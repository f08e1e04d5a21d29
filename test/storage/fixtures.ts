import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { KeyRecord } from "../../src/domain/key.js";
import type {
  AuditChange,
  AuditRecord,
  KeyChange,
  ResourceChange,
  ResourceKey,
  Store,
  StoredResource,
} from "../../src/storage/store.js";

export const TENANT = "codehost_app/local";

export function keyOf(name: string): ResourceKey {
  return { tenant: TENANT, kind: "workspace", name };
}

export function resource(
  name: string,
  generation: number,
  more: Partial<StoredResource> = {},
): StoredResource {
  return {
    ...keyOf(name),
    generation,
    deleted: false,
    document: `{"generation":${generation}}`,
    createdAtMs: 1_800_000_000_000,
    createdBy: "codehost_app/ann",
    updatedAtMs: 1_800_000_000_000 + generation,
    updatedBy: "codehost_app/bob",
    ...more,
  };
}

/** Writes generation n on top of generation n - 1. */
export function put(name: string, generation: number, more: Partial<StoredResource> = {}): ResourceChange {
  return {
    type: "resource",
    resource: resource(name, generation, more),
    justification: `reason ${generation}`,
    ifGeneration: generation - 1,
  };
}

export function tombstone(name: string, generation: number): ResourceChange {
  return put(name, generation, { deleted: true, document: "" });
}

export function key(keyId: string, more: Partial<KeyRecord> = {}): KeyRecord {
  return {
    keyId,
    tenant: TENANT,
    token: "laptop",
    secretSha256: Uint8Array.from({ length: 32 }, (_, index) => 255 - index),
    ownerProvider: 2,
    account: "ann",
    displayName: "Ann",
    role: "admin",
    scopes: ["catalog:read", "catalog:write"],
    expiresAtMs: 1_900_000_000_000,
    revoked: false,
    lastUsedAtMs: undefined,
    ...more,
  };
}

export function putKey(keyId: string, more: Partial<KeyRecord> = {}): KeyChange {
  return { type: "key", key: key(keyId, more) };
}

export function audit(auditId: string, more: Partial<AuditRecord> = {}): AuditChange {
  return {
    type: "audit",
    record: {
      auditId,
      atMs: 1_800_000_000_000,
      tenant: TENANT,
      actor: "codehost_app/ann",
      keyId: "key1",
      action: "CatalogService/PutResource",
      target: "workspace/main",
      outcome: "DONE",
      justification: "because",
      generationBefore: 1,
      generationAfter: 2,
      ...more,
    },
  };
}

const endings = new WeakMap<TestContext, (() => unknown)[]>();

/** Last in, first out, unlike `t.after`: a store is closed before its folder is removed. */
export function atEnd(t: TestContext, end: () => unknown): void {
  const known = endings.get(t);
  if (known) {
    known.unshift(end);
    return;
  }
  const ends = [end];
  endings.set(t, ends);
  t.after(async () => {
    for (const next of ends) await next();
  });
}

/** Opens a store that is closed at the end, however the test ends: an open store keeps the process alive. */
export async function opened(t: TestContext, opening: Promise<Store>): Promise<Store> {
  const store = await opening;
  atEnd(t, () => store.close());
  return store;
}

export function tempDir(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "retinue-storage-"));
  atEnd(t, () => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Waits for something that has no event of its own. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`still not true after 10 s: ${condition}`);
    await delay(5);
  }
}

/** Whether the whole ballast is there. */
export function hasBallast(dataDir: string): boolean {
  return statSync(join(dataDir, "ballast"), { throwIfNoEntry: false })?.size === 16 << 20;
}

/** For what a machine may lack. In CI nothing may be lacking, or a promise would go untested unseen. */
export function skipOrFail(t: TestContext, reason: string): void {
  if (process.env.CI) throw new Error(reason);
  t.skip(reason);
}
