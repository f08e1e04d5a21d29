-- The catalog: versioned resources, keys and the audit log.
-- Times are milliseconds since 1970, booleans are 0 or 1.

-- The current version of every resource. A deleted one stays as a tombstone, so that a re-created name
-- goes on counting generations. "Exists" and "has generation n" are one lookup by primary key.
CREATE TABLE resource (
  tenant        TEXT    NOT NULL,
  kind          TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  generation    INTEGER NOT NULL CHECK (generation > 0),
  deleted       INTEGER NOT NULL CHECK (deleted IN (0, 1)),
  document      TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  created_by    TEXT    NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  updated_by    TEXT    NOT NULL,
  PRIMARY KEY (tenant, kind, name)
) STRICT, WITHOUT ROWID;

-- Lists step over live names only: however many tombstones there are, a page costs the same.
CREATE INDEX resource_live ON resource (tenant, kind, name) WHERE deleted = 0;

-- Every version there ever was, the current one included.
CREATE TABLE resource_version (
  tenant        TEXT    NOT NULL,
  kind          TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  generation    INTEGER NOT NULL,
  deleted       INTEGER NOT NULL,
  document      TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  created_by    TEXT    NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  updated_by    TEXT    NOT NULL,
  justification TEXT    NOT NULL,
  PRIMARY KEY (tenant, kind, name, generation)
) STRICT, WITHOUT ROWID;

-- What a key is and may do; of the secret only the digest.
CREATE TABLE key (
  key_id          TEXT    NOT NULL PRIMARY KEY,
  tenant          TEXT    NOT NULL,
  token           TEXT    NOT NULL,
  secret_sha256   BLOB    NOT NULL,
  owner_provider  INTEGER NOT NULL,
  account         TEXT    NOT NULL,
  display_name    TEXT    NOT NULL,
  role            TEXT    NOT NULL,
  scopes          TEXT    NOT NULL, -- JSON array of strings: only ever read and written whole
  expires_at_ms   INTEGER,          -- NULL = never
  revoked         INTEGER NOT NULL CHECK (revoked IN (0, 1)),
  last_used_at_ms INTEGER           -- NULL = not yet
) STRICT, WITHOUT ROWID;

-- Ids ascend with time, so that the primary key is also the order of the log, within a tenant.
CREATE TABLE audit (
  tenant            TEXT    NOT NULL,
  audit_id          TEXT    NOT NULL,
  at_ms             INTEGER NOT NULL,
  actor             TEXT    NOT NULL,
  key_id            TEXT    NOT NULL,
  action            TEXT    NOT NULL,
  target            TEXT    NOT NULL,
  outcome           TEXT    NOT NULL CHECK (outcome IN ('DONE', 'REFUSED')),
  justification     TEXT    NOT NULL,
  generation_before INTEGER NOT NULL,
  generation_after  INTEGER NOT NULL,
  PRIMARY KEY (tenant, audit_id)
) STRICT, WITHOUT ROWID;

-- One per filter: reads run on the main thread, where a scan of the whole log would hold up every call.
CREATE INDEX audit_by_actor ON audit (tenant, actor, audit_id);
CREATE INDEX audit_by_action ON audit (tenant, action, audit_id);
CREATE INDEX audit_by_target ON audit (tenant, target, audit_id);
