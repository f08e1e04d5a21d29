import { join } from "node:path";
import Database from "better-sqlite3";
import { sqliteCode } from "./connection.js";

export interface DataLock {
  release(): void;
}

/**
 * Makes this the only server on a data folder. Node has no flock, but SQLite locks files: a transaction
 * held open on a file of its own lasts until it is released or the process is gone, kill -9 included.
 *
 * Nothing else may open lock.db (nor retinue.db) with fs: closing any descriptor of a file gives up
 * every POSIX lock this process has on it.
 */
export function lockDataDir(dataDir: string): DataLock {
  const db = new Database(join(dataDir, "lock.db"), { timeout: 0 });
  try {
    // No journal on disk: the lock must be had on a full disk too.
    db.pragma("journal_mode = MEMORY");
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (sqliteCode(error) !== "SQLITE_BUSY") throw error;
    throw new Error(
      `the data folder ${dataDir} is in use by another server: stop that one, or choose another folder`,
    );
  }
  return { release: () => db.close() };
}
