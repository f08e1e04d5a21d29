-- What each attempt of each run has used: the bill. Written in the commit of the log's USAGE event, and never otherwise.
CREATE TABLE usage (
  uid                 TEXT    NOT NULL,
  run_id              INTEGER NOT NULL,
  attempt             INTEGER NOT NULL,
  model               TEXT    NOT NULL,
  input_tokens        INTEGER NOT NULL,
  cached_input_tokens INTEGER NOT NULL,
  output_tokens       INTEGER NOT NULL,
  cost                REAL    NOT NULL,
  at_ms               INTEGER NOT NULL,
  PRIMARY KEY (uid, run_id, attempt)
) STRICT, WITHOUT ROWID;
