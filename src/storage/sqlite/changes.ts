import type { KeyRecord } from "../../domain/key.js";
import type { AuditRecord, Change, ResourceChange, SealedChange } from "../store.js";
import { encodeAgentChange } from "./agent-changes.js";
import { encodeAutomationChange } from "./automation-changes.js";
import { type EncodedCommit, step } from "./step.js";

export function encodeCommit(changes: readonly Change[]): EncodedCommit {
  const out: EncodedCommit = [];
  for (let index = 0; index < changes.length; index++) {
    encodeChange(out, index, changes[index] as Change);
  }
  return out;
}

function encodeChange(out: EncodedCommit, index: number, change: Change): void {
  switch (change.type) {
    case "resource":
      encodeResource(out, index, change);
      break;
    case "key":
      encodeKey(out, index, change.key);
      break;
    case "keyUsed":
      step(out, "keyUsed", index).push(change.atMs, change.keyId);
      break;
    case "sealed":
      encodeSealed(out, index, change);
      break;
    case "auditGone":
      step(out, "removeAudit", index).push(change.tenant, change.upToAuditId);
      break;
    case "audit":
      encodeAudit(out, index, change.record);
      break;
    case "webhookCursor":
    case "pullRequest":
    case "scheduleRun":
      encodeAutomationChange(out, index, change);
      break;
    default:
      encodeAgentChange(out, index, change);
  }
}

function encodeResource(out: EncodedCommit, index: number, change: ResourceChange): void {
  const r = change.resource;
  const deleted = r.deleted ? 1 : 0;
  if (change.ifGeneration === 0) {
    step(out, "insertResource", index).push(
      r.tenant,
      r.kind,
      r.name,
      r.generation,
      deleted,
      r.document,
      r.createdAtMs,
      r.createdBy,
      r.updatedAtMs,
      r.updatedBy,
    );
  } else {
    step(out, change.ifUnreferenced ? "updateUnreferenced" : "updateResource", index).push(
      r.generation,
      deleted,
      r.document,
      r.createdAtMs,
      r.createdBy,
      r.updatedAtMs,
      r.updatedBy,
      r.tenant,
      r.kind,
      r.name,
      change.ifGeneration,
    );
  }
  step(out, "appendVersion", index).push(change.justification, r.tenant, r.kind, r.name);
  if (change.references === undefined) return;
  step(out, "clearReferences", index).push(r.tenant, r.kind, r.name);
  for (const { kind, name, builtin } of change.references) {
    const target = [r.tenant, kind, name];
    step(out, "putReference", index).push(...target, r.kind, r.name, builtin ? 1 : 0, ...target);
  }
}

function encodeKey(out: EncodedCommit, index: number, key: KeyRecord): void {
  step(out, "putKey", index).push(
    key.keyId,
    key.tenant,
    key.token,
    // A Buffer is often a window on a pool of 8 KiB, and cloning a window clones the whole pool.
    new Uint8Array(key.secretSha256),
    key.ownerProvider,
    key.account,
    key.displayName,
    key.role,
    JSON.stringify(key.scopes),
    key.expiresAtMs ?? null,
    key.revoked ? 1 : 0,
    key.lastUsedAtMs ?? null,
    key.share ? JSON.stringify(key.share) : null,
  );
}

function encodeSealed(out: EncodedCommit, index: number, { tenant, name, sealed }: SealedChange): void {
  if (sealed) step(out, "putSealed", index).push(tenant, name, new Uint8Array(sealed));
  else step(out, "removeSealed", index).push(tenant, name);
}

function encodeAudit(out: EncodedCommit, index: number, record: AuditRecord): void {
  step(out, "appendAudit", index).push(
    record.tenant,
    record.auditId,
    record.atMs,
    record.actor,
    record.keyId,
    record.action,
    record.target,
    record.outcome,
    record.justification,
    record.generationBefore,
    record.generationAfter,
  );
}
