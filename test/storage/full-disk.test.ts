import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { openSqliteStore } from "../../src/storage/sqlite/open.js";
import { type Store, StoreFull } from "../../src/storage/store.js";
import {
  atEnd,
  hasBallast,
  keyOf,
  opened,
  put,
  resource,
  skipOrFail,
  tempDir,
  tombstone,
  until,
} from "./fixtures.js";

const DISK_MIB = 64;

describe("the SQLite store on a full disk", { timeout: 120_000 }, () => {
  it("refuses writers with StoreFull, goes on reading, and writes again once there is room", async (t) => {
    const disk = mountDisk(t);
    if (!disk) return;
    const dataDir = join(disk, "data");
    const store = await open(t, dataDir);
    await store.commit([put("main", 1)]);
    await until(() => hasBallast(dataDir));
    fill(disk);

    const refused = await Promise.allSettled([store.commit([bulk("a")]), store.commit([bulk("b")])]);
    for (const outcome of refused) {
      assert.ok(outcome.status === "rejected" && outcome.reason instanceof StoreFull, String(outcome.status));
    }
    assert.deepEqual(await store.resources(all()), [resource("main", 1)]);
    assert.equal(hasBallast(dataDir), false, "the ballast was dropped");

    await store.commit([tombstone("main", 2)]);
    const written = await writeUntilFull(store);
    assert.ok((await store.resource(keyOf("main")))?.deleted);
    assert.deepEqual(await names(store), written);

    rmSync(join(disk, "filler"));
    await store.commit([put("main", 3)]);
    await until(() => hasBallast(dataDir));
    assert.deepEqual(await names(store), [...written, "main"].sort());
  });

  it("undoes a batch that runs out of space half way, and gives the space back", async (t) => {
    const disk = mountDisk(t);
    if (!disk) return;
    const store = await open(t, join(disk, "data"));
    await store.commit([put("main", 1)]);
    const tooLarge = put("large", 1, { document: "x".repeat(DISK_MIB << 20) });
    const refused = await Promise.allSettled([store.commit([put("small", 1)]), store.commit([tooLarge])]);
    for (const outcome of refused) {
      assert.ok(outcome.status === "rejected" && outcome.reason instanceof StoreFull, String(outcome.status));
    }
    assert.deepEqual(await names(store), ["main"]);
    await store.commit([put("small", 1)]);
    assert.deepEqual(await names(store), ["main", "small"]);
  });

  it("opens even if the disk has filled up meanwhile, and has kept what was acknowledged", async (t) => {
    const disk = mountDisk(t);
    if (!disk) return;
    const dataDir = join(disk, "data");
    const first = await open(t, dataDir);
    await until(() => hasBallast(dataDir));
    await first.commit([put("main", 1)]);
    await first.close();
    fill(disk);
    const second = await open(t, dataDir);
    assert.deepEqual(await names(second), ["main"]);
    const written = await writeUntilFull(second);
    await second.close();
    const third = await open(t, dataDir);
    assert.deepEqual(await names(third), [...written, "main"].sort());
  });

  it("says so when there is not even the room to open a store", async (t) => {
    const disk = mountDisk(t);
    if (!disk) return;
    fill(disk);
    await assert.rejects(open(t, disk), new RegExp(`the disk of ${disk} is full`));
  });
});

function open(t: TestContext, dataDir: string): Promise<Store> {
  return opened(t, openSqliteStore({ dataDir, onFatal: assert.ifError }));
}

function bulk(name: string) {
  return put(name, 1, { document: "x".repeat(256 << 10) });
}

function all() {
  return { ...keyOf(""), afterName: "", limit: 1000 };
}

async function names(store: Store): Promise<string[]> {
  return (await store.resources(all())).map((found) => found.name);
}

/** Returns the names that were acknowledged, in order. */
async function writeUntilFull(store: Store): Promise<string[]> {
  const written: string[] = [];
  for (;;) {
    const name = `bulk-${String(written.length).padStart(4, "0")}`;
    try {
      await store.commit([bulk(name)]);
    } catch (error) {
      assert.ok(error instanceof StoreFull, String(error));
      return written;
    }
    written.push(name);
  }
}

/** A small file system of its own, or undefined where this process may not mount one. */
function mountDisk(t: TestContext): string | undefined {
  const dir = tempDir(t);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MIB}m`, "tmpfs", dir], { stdio: "pipe" });
  } catch (error) {
    skipOrFail(t, `no small disk can be mounted here: ${String(error)}`);
    return undefined;
  }
  atEnd(t, () => execFileSync("umount", ["--lazy", dir]));
  return dir;
}

function fill(disk: string): void {
  const filler = openSync(join(disk, "filler"), "w");
  const page = Buffer.alloc(4096);
  try {
    for (;;) writeSync(filler, page);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
  } finally {
    closeSync(filler);
  }
}
