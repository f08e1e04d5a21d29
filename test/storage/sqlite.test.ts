import assert from "node:assert/strict";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import Database from "better-sqlite3";
import { createBatchWriter } from "../../src/storage/sqlite/apply-batch.js";
import { encodeCommit } from "../../src/storage/sqlite/changes.js";
import { createGroupCommit, startWriter } from "../../src/storage/sqlite/group-commit.js";
import { openSqliteStore } from "../../src/storage/sqlite/open.js";
import { type Store, StoreBusy } from "../../src/storage/store.js";
import { runCommits } from "./commit-process.js";
import { storeConformance } from "./conformance.js";
import { atEnd, hasBallast, keyOf, opened, put, tempDir, until } from "./fixtures.js";

function onFatal(error: Error): never {
  throw error;
}

storeConformance("SQLite", (dataDir) => openSqliteStore({ dataDir, onFatal }));

describe("the SQLite store", { timeout: 120_000 }, () => {
  it("creates its folder for the owner only", async (t) => {
    const dataDir = join(tempDir(t), "deep", "data");
    await (await open(t, dataDir)).close();
    assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  });

  it("gives up the folder when opening fails", async (t) => {
    const dataDir = tempDir(t);
    await (await open(t, dataDir)).close();
    const version = setSchema(dataDir, 9999);
    await assert.rejects(open(t, dataDir), /store has schema 9999, this build knows \d+: use a newer build/);
    setSchema(dataDir, version);
    await (await open(t, dataDir)).close();
  });

  it("admits a new server after kill -9 of the old one, and has kept what was acknowledged", async (t) => {
    const dataDir = tempDir(t);
    const child = await runCommits(t, { dataDir, log: join(tempDir(t), "log"), count: 3 });
    await assert.rejects(open(t, dataDir), /is in use by another server/);
    await child.kill();
    const store = await open(t, dataDir);
    for (const index of [0, 1, 2]) assert.ok(await store.resource(keyOf(`name-${index}`)));
  });

  it("takes exactly as many pending commits as it was told", async (t) => {
    const options = { dataDir: tempDir(t), onFatal, maxPendingCommits: 2 };
    const store = await opened(t, openSqliteStore(options));
    const pending = [store.commit([put("a", 1)]), store.commit([put("b", 1)])];
    await assert.rejects(store.commit([put("c", 1)]), StoreBusy);
    await Promise.all(pending);
    await store.commit([put("d", 1)]);
  });

  it("fails a commit whose values the schema does not take alone, with what was wrong", async (t) => {
    const store = await open(t, tempDir(t));
    const [before, invalid, after] = await Promise.allSettled([
      store.commit([put("before", 1)]),
      store.commit([put("main", 1), put("other", 1, { createdAtMs: 1.5 })]),
      store.commit([put("after", 1)]),
    ]);
    assert.equal(before.status, "fulfilled");
    assert.equal(after.status, "fulfilled");
    assert.ok(invalid.status === "rejected");
    assert.match(String(invalid.reason), /change 1: cannot store REAL value in INTEGER column/);
    assert.equal(await store.resource(keyOf("main")), undefined);
  });

  it("makes its ballast in the background and leaves nothing half made on close", async (t) => {
    const dataDir = tempDir(t);
    const store = await open(t, dataDir);
    await until(() => existsSync(join(dataDir, "ballast")));
    await store.close();
    assert.ok(!existsSync(join(dataDir, "ballast")) || hasBallast(dataDir));
  });
});

describe("the writer of the SQLite store", { timeout: 120_000 }, () => {
  it("rejects what is pending and reports a fatal error when it dies", async (t) => {
    const dataDir = await preparedDataDir(t);
    const writer = await startWriter(dataDir);
    atEnd(t, () => writer.terminate());
    const fatal: Error[] = [];
    const group = createGroupCommit({
      writer,
      maxPendingCommits: 100,
      onFatal: (error) => fatal.push(error),
      onFull() {},
      onDone() {},
    });
    await group.commit([put("main", 1)]);
    const pending = [group.commit([put("main", 2)]), group.commit([put("main", 3)])];
    void writer.terminate();
    for (const outcome of await Promise.allSettled(pending)) assert.equal(outcome.status, "rejected");
    assert.equal(fatal.length, 1);
    await assert.rejects(group.commit([put("main", 4)]), fatal[0]);
    await group.close();
  });

  it("refuses a batch while another process holds the write lock, and writes nothing", async (t) => {
    const file = join(await preparedDataDir(t), "retinue.db");
    const db = new Database(file, { timeout: 0 });
    atEnd(t, () => db.close());
    const write = createBatchWriter(db);
    const other = new Database(file);
    atEnd(t, () => other.close());
    other.exec("BEGIN IMMEDIATE");
    assert.deepEqual(write([encodeCommit([put("main", 1)])]), { type: "busy" });
    other.exec("ROLLBACK");
    assert.deepEqual(write([encodeCommit([put("main", 1)])]), { type: "done", failures: [] });
  });
});

function open(t: TestContext, dataDir: string): Promise<Store> {
  return opened(t, openSqliteStore({ dataDir, onFatal }));
}

async function preparedDataDir(t: TestContext): Promise<string> {
  const dataDir = tempDir(t);
  await (await open(t, dataDir)).close();
  return dataDir;
}

/** Returns the version that was there. */
function setSchema(dataDir: string, version: number): number {
  const db = new Database(join(dataDir, "retinue.db"));
  const before = db.pragma("user_version", { simple: true }) as number;
  db.pragma(`user_version = ${version}`);
  db.close();
  return before;
}
