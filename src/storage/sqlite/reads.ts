import type { Statement } from "better-sqlite3";
import type { KeyRecord } from "../../domain/key.js";
import type {
  AuditQuery,
  AuditRecord,
  ResourceKey,
  ResourcesQuery,
  ResourceVersion,
  StoredResource,
  StoreReads,
  VersionsQuery,
} from "../store.js";
import type { Connection } from "./connection.js";

/** The columns of a resource under the names of the port. */
const RESOURCE = `
  tenant, kind, name, generation, deleted, document,
  created_at_ms AS createdAtMs, created_by AS createdBy,
  updated_at_ms AS updatedAtMs, updated_by AS updatedBy`;

type ResourceRow<R extends StoredResource> = Omit<R, "deleted"> & { deleted: number };

interface KeyRow {
  readonly key_id: string;
  readonly tenant: string;
  readonly token: string;
  readonly secret_sha256: Buffer;
  readonly owner_provider: number;
  readonly account: string;
  readonly display_name: string;
  readonly role: string;
  readonly scopes: string;
  readonly expires_at_ms: number | null;
  readonly revoked: number;
  readonly last_used_at_ms: number | null;
  readonly share: string | null;
}

/**
 * Reads on the calling thread: a point read takes microseconds, less than asking another thread. Each is
 * one statement, so it sees one committed state; a read of several must run them in one transaction.
 */
export function createReads(db: Connection): StoreReads {
  const resource = db.prepare<[string, string, string], ResourceRow<StoredResource>>(
    `SELECT ${RESOURCE} FROM resource WHERE tenant = ? AND kind = ? AND name = ?`,
  );
  const resources = db.prepare<[string, string, string, number], ResourceRow<StoredResource>>(
    // By name of the index, for the planner prefers the primary key, which steps over every tombstone.
    `SELECT ${RESOURCE} FROM resource INDEXED BY resource_live
     WHERE tenant = ? AND kind = ? AND name > ? AND deleted = 0 ORDER BY name LIMIT ?`,
  );
  const versions = db.prepare<[string, string, string, number, number], ResourceRow<ResourceVersion>>(
    `SELECT ${RESOURCE}, justification FROM resource_version
     WHERE tenant = ? AND kind = ? AND name = ? AND generation < ? ORDER BY generation DESC LIMIT ?`,
  );
  const referrers = db.prepare<[string, string, string, number], { kind: string; name: string }>(
    `SELECT kind, name FROM resource_reference
     WHERE tenant = ? AND to_kind = ? AND to_name = ? ORDER BY kind, name LIMIT ?`,
  );
  const key = db.prepare<[string], KeyRow>("SELECT * FROM key WHERE key_id = ?");
  const sealed = db
    .prepare<[string, string], Buffer>("SELECT sealed FROM secret WHERE tenant = ? AND name = ?")
    .pluck();
  const hasKeys = db.prepare<[], number>("SELECT EXISTS (SELECT 1 FROM key)").pluck();
  const tenants = db
    .prepare<[], string>(
      "SELECT tenant FROM key UNION SELECT tenant FROM resource UNION SELECT tenant FROM agent",
    )
    .pluck();
  const oldestAudit = db
    .prepare<[string, string, number], string>(
      "SELECT audit_id FROM audit WHERE tenant = ? AND audit_id < ? ORDER BY audit_id LIMIT ?",
    )
    .pluck();
  const audit = createAuditRead(db);

  return {
    async resource({ tenant, kind, name }: ResourceKey) {
      const row = resource.get(tenant, kind, name);
      return row && toResource<StoredResource>(row);
    },
    async resources({ tenant, kind, afterName, limit }: ResourcesQuery) {
      return resources.all(tenant, kind, afterName, limit).map((row) => toResource<StoredResource>(row));
    },
    async versions({ tenant, kind, name, beforeGeneration, limit }: VersionsQuery) {
      const before = beforeGeneration ?? Number.MAX_SAFE_INTEGER;
      return versions.all(tenant, kind, name, before, limit).map((row) => toResource<ResourceVersion>(row));
    },
    referrers: async ({ tenant, kind, name }, limit) => referrers.all(tenant, kind, name, limit),
    async key(keyId) {
      const row = key.get(keyId);
      return row && toKey(row);
    },
    sealed: async (tenant, name) => sealed.get(tenant, name),
    async hasKeys() {
      return hasKeys.get() === 1;
    },
    async tenants() {
      return tenants.all();
    },
    oldestAudit: async (tenant, beforeAuditId, limit) => oldestAudit.all(tenant, beforeAuditId, limit),
    async audit(query) {
      return audit(query);
    },
  };
}

function toResource<R extends StoredResource>(row: ResourceRow<R>): R {
  return { ...row, deleted: row.deleted === 1 } as unknown as R;
}

function toKey(row: KeyRow): KeyRecord {
  return {
    keyId: row.key_id,
    tenant: row.tenant,
    token: row.token,
    secretSha256: new Uint8Array(row.secret_sha256),
    ownerProvider: row.owner_provider,
    account: row.account,
    displayName: row.display_name,
    role: row.role,
    scopes: JSON.parse(row.scopes) as string[],
    expiresAtMs: row.expires_at_ms ?? undefined,
    revoked: row.revoked === 1,
    lastUsedAtMs: row.last_used_at_ms ?? undefined,
    ...(row.share === null ? {} : { share: JSON.parse(row.share) }),
  };
}

/** One statement per set of filters, as only a plain `column = ?` can be searched by an index. */
function createAuditRead(db: Connection): (query: AuditQuery) => AuditRecord[] {
  const prepared = new Map<string, Statement<unknown[], AuditRecord>>();

  return ({ tenant, beforeAuditId, fromAuditId, actor, action, target, outcome, limit }) => {
    const conditions = Object.entries({
      "tenant = ?": tenant,
      "audit_id < ?": beforeAuditId,
      "actor = ?": actor,
      "action = ?": action,
      "target = ?": target,
      "audit_id >= ?": fromAuditId,
    }).filter(([, value]) => value !== undefined);
    // Written out, as the index over refusals needs it.
    const literal = outcome === undefined ? [] : [`outcome = '${outcome}'`];
    const where = [...conditions.map(([condition]) => condition), ...literal].join(" AND ");
    let statement = prepared.get(where);
    if (!statement) {
      statement = db.prepare(
        `SELECT audit_id AS auditId, at_ms AS atMs, tenant, actor, key_id AS keyId, action, target, outcome,
                justification, generation_before AS generationBefore, generation_after AS generationAfter
         FROM audit ${auditIndex(where)} WHERE ${where} ORDER BY audit_id DESC LIMIT ?`,
      );
      prepared.set(where, statement);
    }
    return statement.all(...conditions.map(([, value]) => value), limit);
  };
}

/** Left to itself, the planner goes through the whole log. Of several filters, the one with fewest rows. */
function auditIndex(where: string): string {
  const filter = ["target", "actor", "action"].find((column) => where.includes(`${column} = ?`));
  if (filter) return `INDEXED BY audit_by_${filter}`;
  return where.includes("'REFUSED'") ? "INDEXED BY audit_refused" : "";
}
