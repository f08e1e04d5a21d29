import { join } from "node:path";
import type { Store } from "../store.js";
import { createAgentReads } from "./agent-reads.js";
import { createAutomationReads } from "./automation-reads.js";
import { backupDatabase } from "./backup.js";
import { createBallast, dropBallast } from "./ballast.js";
import { type Connection, isFull, openForReading, openForWriting } from "./connection.js";
import { createDataDir, databaseFile } from "./data-dir.js";
import { createGroupCommit, startWriter } from "./group-commit.js";
import { type DataLock, lockDataDir } from "./lock.js";
import { MIGRATIONS_DIR, migrate } from "./migrate.js";
import { createReads } from "./reads.js";
import { createRetentionReads } from "./retention-reads.js";
import { hasRoom } from "./room.js";

export interface SqliteStoreOptions {
  /** Created if missing. One server at a time. */
  readonly dataDir: string;
  /** A sync failed or the writer died: what is on disk is unknown, so the process must exit. */
  readonly onFatal: (error: Error) => void;
  readonly maxPendingCommits?: number;
  readonly log?: StoreLog;
}

/** The part of a pino logger that the store uses. */
export interface StoreLog {
  warn(fields: object, message: string): void;
}

const MAX_PENDING_COMMITS = 10_000;

export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  createDataDir(options.dataDir);
  const lock = lockDataDir(options.dataDir);
  try {
    prepareDatabase(options);
    return await serve(options, lock);
  } catch (error) {
    lock.release();
    throw isFull(error) ? new Error(`the disk of ${options.dataDir} is full`, { cause: error }) : error;
  }
}

/** Brings the file into the state that the writer and the readers expect. */
function prepareDatabase({ dataDir, log }: SqliteStoreOptions): void {
  if (!hasRoom(dataDir)) dropBallast(dataDir);
  const db = openForWriting(databaseFile(dataDir));
  try {
    if (!foldLog(db)) log?.warn({ dataDir }, "the disk is full: the store can be read, but not written");
    migrate(db, { migrationsDir: MIGRATIONS_DIR, copiesDir: join(dataDir, "backups"), now: new Date() });
  } finally {
    db.close();
  }
}

/**
 * What the last process left in the log may be in memory only, never synced: it goes into the database file,
 * with syncs, before anybody reads it or writes behind it. Returns false if there is no space for that.
 */
function foldLog(db: Connection): boolean {
  try {
    db.pragma("wal_checkpoint(TRUNCATE)");
    return true;
  } catch (error) {
    if (isFull(error)) return false;
    throw error;
  }
}

async function serve(options: SqliteStoreOptions, lock: DataLock): Promise<Store> {
  const { dataDir, onFatal, log, maxPendingCommits = MAX_PENDING_COMMITS } = options;
  const file = databaseFile(dataDir);
  const reader = openForReading(file);
  const reads = {
    ...createReads(reader),
    ...createAgentReads(reader),
    ...createAutomationReads(reader),
    ...createRetentionReads(reader),
  };
  // Last of what can fail: a thread that nobody stops would keep the process alive.
  const writer = await startWriter(dataDir);
  const ballast = createBallast(dataDir);
  const backups = new Set<Promise<void>>();
  let full = false;
  const group = createGroupCommit({
    writer,
    maxPendingCommits,
    onFatal,
    onFull() {
      ballast.dropped();
      if (!full) log?.warn({ dataDir }, "the disk is full: commits are refused, reads go on");
      full = true;
    },
    onDone() {
      full = false;
    },
  });

  async function close(): Promise<void> {
    // First, so that the writer closes last: the last one to close folds the log into the database file.
    reader.close();
    await group.close();
    await Promise.allSettled(backups);
    await ballast.close();
    lock.release();
  }

  let closed: Promise<void> | undefined;
  return {
    ...reads,
    commit: group.commit,
    backup(to) {
      const running = backupDatabase(file, to).finally(() => backups.delete(running));
      backups.add(running);
      return running;
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}
