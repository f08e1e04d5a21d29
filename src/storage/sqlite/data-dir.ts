import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export function databaseFile(dataDir: string): string {
  return join(dataDir, "retinue.db");
}

/** Creates the data folder if it is missing, for its owner only, so that it survives a loss of power. */
export function createDataDir(dataDir: string): void {
  const first = mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  // A new folder is an entry in its parent: without this, the store could be durable and its path not.
  for (let dir = resolve(dataDir); dir.length >= resolve(first).length; dir = dirname(dir)) {
    syncPath(dirname(dir));
  }
}

/** Flushes a file, or the entries of a folder. */
export function syncPath(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
