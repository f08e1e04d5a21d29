import Database from "better-sqlite3";

export type Connection = Database.Database;

/** How long a write waits for another process on the same file, such as an operator's sqlite3 shell. */
const BUSY_TIMEOUT_MS = 5000;
/** About 16 MiB of log between two checkpoints: each costs two more syncs. */
const CHECKPOINT_PAGES = 4000;

/** A connection whose COMMIT returns only when the commit would survive a loss of power. */
export function openForWriting(file: string): Connection {
  const db = new Database(file, { timeout: BUSY_TIMEOUT_MS });
  db.pragma("journal_mode = WAL");
  // The default of better-sqlite3 in WAL is NORMAL, which syncs at checkpoints only.
  db.pragma("synchronous = FULL");
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  db.pragma("trusted_schema = OFF");
  return db;
}

/** Readers of a WAL see the newest synced commit and wait for nobody. */
export function openForReading(file: string): Connection {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  db.pragma("trusted_schema = OFF");
  return db;
}

/** The result code of an error that SQLite raised, for example `SQLITE_FULL`; otherwise undefined. */
export function sqliteCode(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && code.startsWith("SQLITE_") ? code : undefined;
}

/**
 * What a thread must throw in place of an error: those of better-sqlite3 are no real Errors and arrive in
 * the main thread as objects without their text.
 */
export function portableError(error: unknown): unknown {
  const code = sqliteCode(error);
  return code ? Object.assign(new Error(`${code}: ${(error as Error).message}`), { code }) : error;
}

/** Whether an error outside of a commit means that there is no space, for a file or for the log's index. */
export function isFull(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === "SQLITE_FULL" || code === "SQLITE_IOERR_SHMSIZE";
}
