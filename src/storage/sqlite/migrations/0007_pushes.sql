-- What agents pushed to their origin, and how far it has come to the upstream. One row per branch, the newest push.
CREATE TABLE push (
  uid              TEXT    NOT NULL,
  repo             TEXT    NOT NULL,
  branch           TEXT    NOT NULL,
  url              TEXT    NOT NULL,
  commit_id        TEXT    NOT NULL,
  pushed_at_ms     INTEGER NOT NULL,
  forwarded_commit TEXT    NOT NULL DEFAULT '',
  attempts         INTEGER NOT NULL DEFAULT 0,
  due_at_ms        INTEGER NOT NULL,
  error            TEXT    NOT NULL DEFAULT '',
  PRIMARY KEY (uid, repo, branch)
) STRICT, WITHOUT ROWID;

-- What a start has to hand on, and nothing else.
CREATE INDEX push_pending ON push (due_at_ms) WHERE commit_id <> forwarded_commit;
