import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Connection } from "./connection.js";
import { copyDatabase } from "./copy-database.js";

/** The build copies the SQL next to the compiled file. */
export const MIGRATIONS_DIR = fileURLToPath(new URL("./migrations", import.meta.url));

export interface MigrateOptions {
  readonly migrationsDir: string;
  /** Where the store is copied before its schema changes: forward only means the way back is a copy. */
  readonly copiesDir: string;
  /** Part of the copy's file name. */
  readonly now: Date;
}

/** Brings the schema to the newest version this build knows, and returns the version it had before. */
export function migrate(db: Connection, options: MigrateOptions): number {
  const migrations = readMigrations(options.migrationsDir);
  const from = db.pragma("user_version", { simple: true }) as number;
  if (from > migrations.length) {
    throw new Error(`store has schema ${from}, this build knows ${migrations.length}: use a newer build`);
  }
  if (from === migrations.length) return from;
  if (from > 0) copyBefore(db, from, options);
  for (const [index, sql] of migrations.entries()) {
    const version = index + 1;
    if (version > from) apply(db, version, sql);
  }
  return from;
}

/** The texts in order: the first is version 1. */
function readMigrations(dir: string): string[] {
  const names = readdirSync(dir)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  return names.map((name, index) => {
    if (Number(name.slice(0, 4)) !== index + 1) {
      throw new Error(`${join(dir, name)} is not migration ${index + 1}: numbers go up by one from 0001`);
    }
    return readFileSync(join(dir, name), "utf8");
  });
}

function copyBefore(db: Connection, version: number, { copiesDir, now }: MigrateOptions): void {
  mkdirSync(copiesDir, { recursive: true, mode: 0o700 });
  const stamp = now.toISOString().replaceAll(/[-:.]/g, "");
  copyDatabase(db.name, join(copiesDir, `retinue-schema${version}-${stamp}.db`));
}

function apply(db: Connection, version: number, sql: string): void {
  db.transaction(() => {
    db.exec(sql);
    // In the header of the file, so part of the transaction: schema and number change together.
    db.pragma(`user_version = ${version}`);
  }).immediate();
}
