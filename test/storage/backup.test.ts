import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { backupDataFolder } from "../../src/storage/sqlite/backup.js";
import { openSqliteStore } from "../../src/storage/sqlite/open.js";
import type { Store } from "../../src/storage/store.js";
import { runCommits } from "./commit-process.js";
import { keyOf, opened, put, tempDir } from "./fixtures.js";

describe("a backup of the SQLite store", { timeout: 120_000 }, () => {
  it("holds what was acknowledged before it and whole commits only, while writing goes on", async (t) => {
    const store = await open(t, tempDir(t));
    const copyDir = tempDir(t);
    let generation = 0;
    let done = false;
    async function write(): Promise<void> {
      while (!done) {
        await store.commit([put("left", generation + 1), put("right", generation + 1)]);
        generation++;
      }
    }
    const writing = write();
    await store.commit([put("bulk", 1, { document: "x".repeat(4 << 20) })]);
    const acknowledged = generation;
    await store.backup(join(copyDir, "retinue.db"));
    const reached = generation;
    done = true;
    await writing;

    const copy = await open(t, copyDir);
    const left = (await copy.resource(keyOf("left")))?.generation ?? 0;
    assert.ok(reached > acknowledged, "the store took commits during the backup");
    assert.ok(left >= acknowledged && left <= generation, `${acknowledged} <= ${left} <= ${generation}`);
    assert.equal((await copy.resource(keyOf("right")))?.generation, left);
    const versions = await copy.versions({ ...keyOf("left"), beforeGeneration: undefined, limit: left + 1 });
    assert.equal(versions.length, left);
  });

  it("refuses an existing file and leaves it as it is", async (t) => {
    const dir = tempDir(t);
    const store = await open(t, join(dir, "data"));
    const file = join(dir, "backup.db");
    writeFileSync(file, "precious");
    await assert.rejects(store.backup(file), /backup.db exists already/);
    assert.equal(readFileSync(file, "utf8"), "precious");
  });

  it("leaves nothing behind when it fails", async (t) => {
    const dir = tempDir(t);
    const store = await open(t, join(dir, "data"));
    await assert.rejects(store.backup(join(dir, "missing", "backup.db")));
    assert.deepEqual(readdirSync(dir), ["data"]);
  });

  it("is finished before the store is closed", async (t) => {
    const dir = tempDir(t);
    const store = await open(t, join(dir, "data"));
    await store.commit([put("main", 1)]);
    void store.backup(join(dir, "backup.db"));
    await store.close();
    assert.deepEqual(readdirSync(dir).sort(), ["backup.db", "data"]);
  });
});

describe("a backup of a data folder", { timeout: 120_000 }, () => {
  it("is a complete data folder, made while another process serves the source", async (t) => {
    const dir = tempDir(t);
    const dataDir = join(dir, "data");
    const child = await runCommits(t, { dataDir, log: join(dir, "log"), count: 3 });
    writeFileSync(join(dataDir, "secrets.key"), "sealed", { mode: 0o644 });
    const copyDir = join(dir, "copies", "today");
    await backupDataFolder(dataDir, copyDir);
    await child.kill();
    assert.deepEqual(readdirSync(copyDir).sort(), ["retinue.db", "secrets.key"]);
    assert.equal(readFileSync(join(copyDir, "secrets.key"), "utf8"), "sealed");
    for (const name of readdirSync(copyDir)) assert.equal(statSync(join(copyDir, name)).mode & 0o777, 0o600);
    assert.equal(statSync(copyDir).mode & 0o777, 0o700);
    const copy = await open(t, copyDir);
    for (const index of [0, 1, 2]) assert.ok(await copy.resource(keyOf(`name-${index}`)));
  });

  it("works on a folder that nobody serves, after a clean end and after kill -9", async (t) => {
    const dir = tempDir(t);
    const dataDir = join(dir, "data");
    const child = await runCommits(t, { dataDir, log: join(dir, "log"), count: 3 });
    await child.kill();
    await backupDataFolder(dataDir, join(dir, "killed"));
    await (await open(t, dataDir)).close();
    await backupDataFolder(dataDir, join(dir, "closed"));
    for (const name of ["killed", "closed"]) {
      const copy = await open(t, join(dir, name));
      for (const index of [0, 1, 2]) assert.ok(await copy.resource(keyOf(`name-${index}`)), name);
    }
  });

  it("refuses a source that is no data folder, and makes no target", async (t) => {
    const dir = tempDir(t);
    mkdirSync(join(dir, "empty"));
    for (const source of ["empty", "missing"]) {
      await assert.rejects(
        backupDataFolder(join(dir, source), join(dir, "copy")),
        new RegExp(`${source} is no data folder: it has no retinue.db`),
      );
    }
    assert.deepEqual(readdirSync(dir), ["empty"]);
  });

  it("fails on a source that is damaged, and leaves no copy behind", async (t) => {
    const dir = tempDir(t);
    const dataDir = join(dir, "data");
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, "retinue.db"), "not a database at all".repeat(1000));
    await assert.rejects(backupDataFolder(dataDir, join(dir, "copy")), /file is not a database/);
    assert.deepEqual(readdirSync(join(dir, "copy")), []);
  });

  it("goes into an empty folder, never into one that holds something", async (t) => {
    const dir = tempDir(t);
    const dataDir = join(dir, "data");
    await (await open(t, dataDir)).close();
    const target = join(dir, "target");
    mkdirSync(target);
    await backupDataFolder(dataDir, target);
    await assert.rejects(backupDataFolder(dataDir, target), /target is not empty/);
  });
});

function open(t: TestContext, dataDir: string): Promise<Store> {
  return opened(t, openSqliteStore({ dataDir, onFatal: assert.ifError }));
}
