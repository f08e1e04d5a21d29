-- Agents: their state, messages, tasks, log, and the processes beneath them.
-- Times are milliseconds since 1970, booleans are 0 or 1.

-- One row per incarnation. What lists and look-ups filter by is a column; the rest is JSON that the engine reads.
CREATE TABLE agent (
  uid            TEXT    NOT NULL PRIMARY KEY,
  tenant         TEXT    NOT NULL,
  owner_provider INTEGER NOT NULL,
  account        TEXT    NOT NULL,
  workspace      TEXT    NOT NULL,
  path           TEXT    NOT NULL,
  parent_uid     TEXT    NOT NULL,
  phase          INTEGER NOT NULL,
  live           INTEGER NOT NULL CHECK (live IN (0, 1)),
  unsettled      INTEGER NOT NULL CHECK (unsettled IN (0, 1)),
  version        INTEGER NOT NULL,
  last_seq       INTEGER NOT NULL,
  created_at_ms  INTEGER NOT NULL,
  ended_at_ms    INTEGER,
  state          TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- A path belongs to at most one live agent: a second spawn fails its precondition.
CREATE UNIQUE INDEX agent_live_path ON agent (tenant, owner_provider, account, workspace, path) WHERE live = 1;
CREATE INDEX agent_at_path ON agent (tenant, owner_provider, account, path, created_at_ms);
-- Lists: live agents apart, so that a page of them costs the same however many have ended.
CREATE INDEX agent_live_list ON agent (tenant, parent_uid, path, uid) WHERE live = 1;
CREATE INDEX agent_list ON agent (tenant, parent_uid, path, uid);
CREATE INDEX agent_children ON agent (parent_uid, phase) WHERE parent_uid <> '';
-- What a start has to look at, and nothing else.
CREATE INDEX agent_unsettled ON agent (uid) WHERE unsettled = 1;

CREATE TABLE agent_texts (
  uid             TEXT NOT NULL PRIMARY KEY,
  description     TEXT NOT NULL,
  expected_output TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_tasks (
  uid   TEXT NOT NULL PRIMARY KEY,
  tasks TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE follow_up (
  uid          TEXT    NOT NULL,
  follow_up_id TEXT    NOT NULL,
  state        INTEGER NOT NULL,
  pending      INTEGER NOT NULL CHECK (pending IN (0, 1)),
  fingerprint  TEXT    NOT NULL,
  run_id       INTEGER NOT NULL,
  seq          INTEGER NOT NULL,
  body         TEXT    NOT NULL,
  PRIMARY KEY (uid, follow_up_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX follow_up_pending ON follow_up (uid) WHERE pending = 1;

CREATE TABLE event (
  uid      TEXT    NOT NULL,
  seq      INTEGER NOT NULL,
  event_id TEXT    NOT NULL,
  at_ms    INTEGER NOT NULL,
  type     INTEGER NOT NULL,
  run_id   INTEGER NOT NULL,
  attempt  INTEGER NOT NULL,
  actor    TEXT    NOT NULL,
  payload  BLOB    NOT NULL,
  PRIMARY KEY (uid, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE spawn_request (
  tenant         TEXT    NOT NULL,
  owner_provider INTEGER NOT NULL,
  account        TEXT    NOT NULL,
  request_id     TEXT    NOT NULL,
  fingerprint    TEXT    NOT NULL,
  uid            TEXT    NOT NULL,
  at_ms          INTEGER NOT NULL,
  PRIMARY KEY (tenant, owner_provider, account, request_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE process (
  token         TEXT    NOT NULL PRIMARY KEY,
  uid           TEXT    NOT NULL,
  started_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  uid         TEXT NOT NULL PRIMARY KEY,
  session_ref TEXT NOT NULL,
  cost_so_far REAL NOT NULL
) STRICT, WITHOUT ROWID;
