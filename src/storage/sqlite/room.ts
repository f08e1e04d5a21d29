import { statfsSync, statSync } from "node:fs";
import { dropBallast } from "./ballast.js";
import { type Connection, isFull } from "./connection.js";
import { databaseFile } from "./data-dir.js";

/** What commits leave free: to open a store, even only to read it, takes some space for the log's index. */
const RESERVE_BYTES = 4 << 20;
/** Reads take microseconds. A backup takes longer, and is not waited for. */
const WAIT_FOR_READERS_MS = 100;

/** Whether a batch may be written: beside the reserve, the log must still fit into the database file. */
export function hasRoom(dataDir: string): boolean {
  const { blocks, bavail, bsize } = statfsSync(dataDir);
  // A file system without a size, such as a tmpfs without limit, does not know how much is free.
  if (blocks === 0) return true;
  const log = statSync(`${databaseFile(dataDir)}-wal`, { throwIfNoEntry: false });
  return bavail * bsize >= RESERVE_BYTES + (log?.size ?? 0);
}

/** Like hasRoom, but if there is none, first gives back the space of the log. */
export function findRoom(db: Connection, dataDir: string): boolean {
  if (hasRoom(dataDir)) return true;
  truncateLog(db);
  return hasRoom(dataDir);
}

/** The last resort, for which the ballast is kept. */
export function makeRoom(db: Connection, dataDir: string): void {
  dropBallast(dataDir);
  truncateLog(db);
}

function truncateLog(db: Connection): void {
  const timeout = db.pragma("busy_timeout", { simple: true }) as number;
  db.pragma(`busy_timeout = ${WAIT_FOR_READERS_MS}`);
  try {
    db.pragma("wal_checkpoint(TRUNCATE)");
  } catch (error) {
    if (!isFull(error)) throw error;
  } finally {
    db.pragma(`busy_timeout = ${timeout}`);
  }
}
