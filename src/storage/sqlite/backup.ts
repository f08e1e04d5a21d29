import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { databaseFile, syncPath } from "./data-dir.js";

/** Copies a database into a new file on a thread of its own. */
export function backupDatabase(from: string, to: string): Promise<void> {
  const worker = new Worker(new URL("./copy-worker.js", import.meta.url), { workerData: { from, to } });
  return new Promise((resolve, reject) => {
    worker.once("error", reject);
    worker.once("exit", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the backup to ${to} ended with code ${code}`));
    });
  });
}

/**
 * Makes `toDir` a complete data folder: the store, and the key files without which its secrets cannot be
 * read. Works from another process while a server runs on `dataDir`.
 */
export async function backupDataFolder(dataDir: string, toDir: string): Promise<void> {
  const from = databaseFile(dataDir);
  if (!existsSync(from)) throw new Error(`${dataDir} is no data folder: it has no retinue.db`);
  if (existsSync(toDir) && readdirSync(toDir).length > 0) {
    throw new Error(`${toDir} is not empty: a backup goes into a new or an empty folder`);
  }
  mkdirSync(toDir, { recursive: true, mode: 0o700 });
  const to = databaseFile(toDir);
  await backupDatabase(from, to);
  try {
    // After the store: a key is on disk before anything stored needs it, so none can be missing.
    copyKeyFiles(dataDir, toDir);
  } catch (error) {
    rmSync(to);
    throw error;
  }
}

function copyKeyFiles(dataDir: string, toDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (!name.endsWith(".key")) continue;
    const copy = join(toDir, name);
    writeFileSync(copy, readFileSync(join(dataDir, name)), { flag: "wx", mode: 0o600 });
    syncPath(copy);
  }
  syncPath(toDir);
}
