-- What works by itself: webhooks, deliveries of code hosts, schedules.
-- Times are milliseconds since 1970.

-- How far an agent's log has been posted. An integration is its name and when it was made: one that is made anew
-- under the same name begins anew.
CREATE TABLE webhook_cursor (
  uid           TEXT    NOT NULL,
  integration   TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  seq           INTEGER NOT NULL,
  PRIMARY KEY (uid, integration, created_at_ms)
) STRICT, WITHOUT ROWID;

-- After a start: agents that ended since an integration was made may still have something to post.
CREATE INDEX agent_ended ON agent (tenant, ended_at_ms) WHERE live = 0;

-- The branch of a pull request: comments name its number only.
CREATE TABLE pull_request (
  tenant      TEXT    NOT NULL,
  integration TEXT    NOT NULL,
  repo        TEXT    NOT NULL,
  number      INTEGER NOT NULL,
  branch      TEXT    NOT NULL,
  PRIMARY KEY (tenant, integration, repo, number)
) STRICT, WITHOUT ROWID;

-- The last time of a schedule that is dealt with, and what became of it.
CREATE TABLE schedule_run (
  tenant     TEXT    NOT NULL,
  name       TEXT    NOT NULL,
  due_at_ms  INTEGER NOT NULL,
  uid        TEXT    NOT NULL, -- the agent that it started or wrote to; empty: none
  message_id TEXT    NOT NULL, -- the message that it sent; empty: it spawned
  error      TEXT    NOT NULL, -- why nothing came of it; empty otherwise
  PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;
