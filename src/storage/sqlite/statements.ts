import { agentWriteStatements } from "./agent-statements.js";
import { automationWriteStatements } from "./automation-statements.js";
import { retentionWriteStatements } from "./retention-statements.js";

/** What a statement can be bound to, and what crosses to another thread cheaply. */
export type Primitive = string | number | null | Uint8Array;

export interface WriteStatement {
  readonly sql: string;
  /** The precondition lives in the statement: it held if exactly one row was written. */
  readonly mustWriteOneRow: boolean;
}

/** What the writer can do to the catalog, keys and audit. */
const catalogWriteStatements = {
  insertResource: {
    sql: `
      INSERT INTO resource (
        tenant, kind, name, generation, deleted, document,
        created_at_ms, created_by, updated_at_ms, updated_by
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING`,
    mustWriteOneRow: true,
  },
  updateResource: {
    sql: `
      UPDATE resource
      SET generation = ?, deleted = ?, document = ?,
          created_at_ms = ?, created_by = ?, updated_at_ms = ?, updated_by = ?
      WHERE tenant = ? AND kind = ? AND name = ? AND generation = ?`,
    mustWriteOneRow: true,
  },
  updateUnreferenced: {
    sql: `
      UPDATE resource
      SET generation = ?, deleted = ?, document = ?,
          created_at_ms = ?, created_by = ?, updated_at_ms = ?, updated_by = ?
      WHERE tenant = ? AND kind = ? AND name = ? AND generation = ?
        AND NOT EXISTS (
          SELECT 1 FROM resource_reference AS r
          WHERE r.tenant = resource.tenant AND r.to_kind = resource.kind AND r.to_name = resource.name
        )`,
    mustWriteOneRow: true,
  },
  clearReferences: {
    sql: "DELETE FROM resource_reference WHERE tenant = ? AND kind = ? AND name = ?",
    mustWriteOneRow: false,
  },
  // Writes nothing, and thereby fails the commit, where what is named is neither a builtin nor live.
  putReference: {
    sql: `
      INSERT INTO resource_reference (tenant, to_kind, to_name, kind, name)
      SELECT ?, ?, ?, ?, ?
      WHERE ? = 1 OR EXISTS (
        SELECT 1 FROM resource WHERE tenant = ? AND kind = ? AND name = ? AND deleted = 0
      )`,
    mustWriteOneRow: true,
  },
  // Copies the row that was just written, so that a large document crosses the threads only once.
  appendVersion: {
    sql: `
      INSERT INTO resource_version (
        tenant, kind, name, generation, deleted, document,
        created_at_ms, created_by, updated_at_ms, updated_by, justification
      )
      SELECT tenant, kind, name, generation, deleted, document,
             created_at_ms, created_by, updated_at_ms, updated_by, ?
      FROM resource
      WHERE tenant = ? AND kind = ? AND name = ?`,
    mustWriteOneRow: true,
  },
  // Leaves last_used_at_ms of a stored key alone: only keyUsed moves it.
  putKey: {
    sql: `
      INSERT INTO key (
        key_id, tenant, token, secret_sha256, owner_provider, account, display_name,
        role, scopes, expires_at_ms, revoked, last_used_at_ms, share
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (key_id) DO UPDATE
      SET tenant = excluded.tenant, token = excluded.token, secret_sha256 = excluded.secret_sha256,
          owner_provider = excluded.owner_provider, account = excluded.account,
          display_name = excluded.display_name, role = excluded.role, scopes = excluded.scopes,
          expires_at_ms = excluded.expires_at_ms, revoked = excluded.revoked, share = excluded.share`,
    mustWriteOneRow: true,
  },
  keyUsed: {
    sql: `
      UPDATE key
      SET last_used_at_ms = max(coalesce(last_used_at_ms, 0), ?)
      WHERE key_id = ?`,
    mustWriteOneRow: false,
  },
  putSealed: {
    sql: `
      INSERT INTO secret (tenant, name, sealed) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET sealed = excluded.sealed`,
    mustWriteOneRow: true,
  },
  removeSealed: {
    sql: "DELETE FROM secret WHERE tenant = ? AND name = ?",
    mustWriteOneRow: true,
  },
  // An id that is already there means this commit was made before: it must not be made twice.
  appendAudit: {
    sql: `
      INSERT INTO audit (
        tenant, audit_id, at_ms, actor, key_id, action, target, outcome,
        justification, generation_before, generation_after
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING`,
    mustWriteOneRow: true,
  },
  removeAudit: {
    sql: "DELETE FROM audit WHERE tenant = ? AND audit_id <= ?",
    mustWriteOneRow: false,
  },
} as const satisfies Record<string, WriteStatement>;

/** Everything the writer can do. One thread encodes the name, the other prepares the text. */
export const writeStatements = {
  ...catalogWriteStatements,
  ...agentWriteStatements,
  ...automationWriteStatements,
  ...retentionWriteStatements,
};

export type WriteStatementName = keyof typeof writeStatements;
