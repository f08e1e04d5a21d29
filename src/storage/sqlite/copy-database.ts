import { closeSync, existsSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { openForReading } from "./connection.js";
import { syncPath } from "./data-dir.js";

/**
 * Writes a consistent, checked copy of a database into a new file, while others go on writing to it.
 * The file appears under its name only when it is complete. Blocks: call it off the main thread.
 */
export function copyDatabase(from: string, to: string): void {
  if (existsSync(to)) throw new Error(`${to} exists already: a backup never overwrites`);
  const partial = `${to}.partial`;
  claim(partial);
  try {
    const source = openForReading(from);
    try {
      source.prepare("VACUUM INTO ?").run(partial);
    } finally {
      source.close();
    }
    checkDatabase(partial);
    syncPath(partial);
    renameSync(partial, to);
    syncPath(dirname(to));
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

/** VACUUM INTO takes an empty file, which has the right mode and keeps a second backup away. */
function claim(partial: string): void {
  try {
    closeSync(openSync(partial, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new Error(
      `${partial} exists: another backup is writing it, or one was interrupted; then remove it`,
    );
  }
}

function checkDatabase(file: string): void {
  const db = openForReading(file);
  try {
    const found = db.pragma("integrity_check", { simple: true });
    if (found !== "ok") throw new Error(`the copy ${file} is damaged: ${String(found)}`);
  } finally {
    db.close();
  }
}
