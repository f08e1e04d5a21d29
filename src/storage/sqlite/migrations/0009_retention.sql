-- What is over and may go.

-- Trees that have ended, oldest first.
CREATE INDEX agent_ended_root ON agent (tenant, ended_at_ms) WHERE parent_uid = '' AND live = 0;

-- Agents that are gone, and whose rows and folder are still to be removed: too many for one commit.
CREATE TABLE purge (
  uid TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE INDEX spawn_request_age ON spawn_request (at_ms);

-- Refusals are few, and looked for among many.
CREATE INDEX audit_refused ON audit (tenant, audit_id) WHERE outcome = 'REFUSED';
