-- Which documents name which others, so that none is deleted while another one needs it.
CREATE TABLE resource_reference (
  tenant  TEXT NOT NULL,
  to_kind TEXT NOT NULL,
  to_name TEXT NOT NULL,
  kind    TEXT NOT NULL,
  name    TEXT NOT NULL,
  PRIMARY KEY (tenant, to_kind, to_name, kind, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX resource_reference_from ON resource_reference (tenant, kind, name);

-- What was written before references were kept. Names of builtins are written out nowhere, or stand like any other.
INSERT OR IGNORE INTO resource_reference (tenant, to_kind, to_name, kind, name)
SELECT tenant, 'environment', document ->> '$.environment', kind, name
FROM resource WHERE kind = 'workspace' AND deleted = 0 AND document ->> '$.environment' <> ''
UNION ALL
SELECT tenant, 'persona', document ->> '$.agent', kind, name
FROM resource WHERE kind = 'workspace' AND deleted = 0 AND document ->> '$.agent' <> ''
UNION ALL
SELECT tenant, 'vm-profile', document ->> '$.vmProfile', kind, name
FROM resource WHERE kind = 'environment' AND deleted = 0 AND document ->> '$.vmProfile' <> ''
UNION ALL
SELECT tenant, 'secret', variable.value ->> '$.secret', kind, name
FROM resource, json_each(document, '$.variables') AS variable
WHERE kind = 'environment' AND deleted = 0 AND variable.value ->> '$.secret' <> ''
UNION ALL
SELECT tenant, 'service-profile', document ->> '$.serviceProfile', kind, name
FROM resource WHERE kind IN ('token', 'schedule') AND deleted = 0 AND document ->> '$.serviceProfile' <> ''
UNION ALL
SELECT tenant, 'workspace', workspace.value, kind, name
FROM resource, json_each(document, '$.workspaces') AS workspace WHERE kind = 'integration' AND deleted = 0
UNION ALL
SELECT tenant, 'workspace', document ->> '$.spawn.workspace', kind, name
FROM resource WHERE kind = 'schedule' AND deleted = 0 AND document ->> '$.spawn.workspace' <> ''
UNION ALL
SELECT tenant, 'persona', document ->> '$.spawn.agent', kind, name
FROM resource WHERE kind = 'schedule' AND deleted = 0 AND document ->> '$.spawn.agent' <> ''
UNION ALL
SELECT tenant, 'environment', document ->> '$.spawn.environment', kind, name
FROM resource WHERE kind = 'schedule' AND deleted = 0 AND document ->> '$.spawn.environment' <> '';
