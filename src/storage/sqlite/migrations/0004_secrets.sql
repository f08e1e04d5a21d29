-- Values of secrets, and keys that show one agent.

-- The newest value of each secret, encrypted with the master key. Not in the document: history would keep it for good.
CREATE TABLE secret (
  tenant TEXT NOT NULL,
  name   TEXT NOT NULL,
  sealed BLOB NOT NULL,
  PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

-- What the key of a share link shows, as JSON; NULL for the key of a token.
ALTER TABLE key ADD COLUMN share TEXT;
