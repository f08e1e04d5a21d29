import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import Database from "better-sqlite3";
import { type Connection, openForWriting } from "../../src/storage/sqlite/connection.js";
import { migrate } from "../../src/storage/sqlite/migrate.js";
import { atEnd, tempDir } from "./fixtures.js";

const FIRST = "CREATE TABLE one (value TEXT NOT NULL) STRICT;";
const SECOND = "CREATE TABLE two (value TEXT NOT NULL) STRICT; INSERT INTO two SELECT value FROM one;";
const NOW = new Date("2026-11-15T02:03:04.005Z");

describe("migrations", () => {
  it("are applied in order to a fresh store, without a copy of nothing", (t) => {
    const { db, run, copiesDir } = setUp(t);
    assert.equal(run({ "0001_one.sql": FIRST, "0002_two.sql": SECOND }), 0);
    assert.equal(version(db), 2);
    assert.deepEqual(tables(db), ["one", "two"]);
    assert.equal(existsSync(copiesDir), false);
  });

  it("are not applied again", (t) => {
    const { db, run } = setUp(t);
    run({ "0001_one.sql": FIRST });
    db.exec("INSERT INTO one VALUES ('kept')");
    assert.equal(run({ "0001_one.sql": FIRST }), 1);
    assert.equal(db.prepare("SELECT value FROM one").pluck().get(), "kept");
  });

  it("leave a whole copy of the old store behind, rows of the log included", (t) => {
    const { db, run, copiesDir } = setUp(t);
    run({ "0001_one.sql": FIRST });
    db.exec("INSERT INTO one VALUES ('kept')");
    assert.equal(run({ "0001_one.sql": FIRST, "0002_two.sql": SECOND }), 1);
    assert.equal(db.prepare("SELECT value FROM two").pluck().get(), "kept");
    assert.deepEqual(readdirSync(copiesDir), ["retinue-schema1-20261115T020304005Z.db"]);
    const copy = new Database(join(copiesDir, "retinue-schema1-20261115T020304005Z.db"), { readonly: true });
    atEnd(t, () => copy.close());
    assert.equal(version(copy), 1);
    assert.deepEqual(tables(copy), ["one"]);
    assert.equal(copy.prepare("SELECT value FROM one").pluck().get(), "kept");
  });

  it("never overwrite a copy: the schema stays as it was", (t) => {
    const { db, run, copiesDir } = setUp(t);
    run({ "0001_one.sql": FIRST });
    mkdirSync(copiesDir);
    writeFileSync(join(copiesDir, "retinue-schema1-20261115T020304005Z.db"), "precious");
    assert.throws(() => run({ "0001_one.sql": FIRST, "0002_two.sql": SECOND }), /exists already/);
    assert.equal(version(db), 1);
  });

  it("stand or fall one by one: what a failed one did is undone, its predecessors stay", (t) => {
    const { db, run } = setUp(t);
    const broken = "CREATE TABLE three (value TEXT) STRICT; INSERT INTO missing VALUES (1);";
    assert.throws(() => run({ "0001_one.sql": FIRST, "0002_two.sql": SECOND, "0003_three.sql": broken }));
    assert.equal(version(db), 2);
    assert.deepEqual(tables(db), ["one", "two"]);
  });

  it("refuse a store with a newer schema and leave it alone", (t) => {
    const { db, run } = setUp(t);
    run({ "0001_one.sql": FIRST, "0002_two.sql": SECOND });
    assert.throws(
      () => run({ "0001_one.sql": FIRST }),
      /store has schema 2, this build knows 1: use a newer build/,
    );
    assert.equal(version(db), 2);
  });

  it("must be numbered without gaps", (t) => {
    const { run } = setUp(t);
    assert.throws(() => run({ "0001_one.sql": FIRST, "0003_two.sql": SECOND }), /0003_two.sql/);
  });
});

function setUp(t: TestContext) {
  const dir = tempDir(t);
  const db = openForWriting(join(dir, "retinue.db"));
  atEnd(t, () => db.close());
  const copiesDir = join(dir, "backups");
  let builds = 0;

  /** As a build with these migrations would do. */
  function run(files: Record<string, string>): number {
    const migrationsDir = join(dir, `build-${builds++}`);
    mkdirSync(migrationsDir);
    for (const [name, sql] of Object.entries(files)) writeFileSync(join(migrationsDir, name), sql);
    return migrate(db, { migrationsDir, copiesDir, now: NOW });
  }
  return { db, run, copiesDir };
}

function version(db: Connection): unknown {
  return db.pragma("user_version", { simple: true });
}

function tables(db: Connection): unknown[] {
  return db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck().all();
}
