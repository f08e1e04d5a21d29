import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { openSqliteStore } from "../../src/storage/sqlite/open.js";
import { runCommits } from "./commit-process.js";
import { keyOf, opened, skipOrFail, tempDir } from "./fixtures.js";

const COMMITS = 6;
/** Long enough that whoever does not wait for the sync is caught every time. */
const SYNC_US = "20000";
/** Compiled tests are in <root>/<outDir>/test/storage; the C source stays where it is. */
const SHIM_SOURCE = fileURLToPath(new URL("../../../test/storage/sync-shim.c", import.meta.url));

describe("a commit of the SQLite store", { timeout: 120_000 }, () => {
  it("is synced after its last write, and only then readable and acknowledged", async (t) => {
    const run = await runWithShim(t, { failLast: false });
    if (!run) return;
    const groups = run.log
      .slice(run.log.indexOf("open") + 1)
      .join(" ")
      .split("ack")
      .slice(0, -1);
    assert.equal(groups.length, COMMITS);
    for (const group of groups) assert.match(group, /^ ?((write )+sync )+(seen )?$/);

    const store = await opened(t, openSqliteStore({ dataDir: run.syncedDir, onFatal: assert.ifError }));
    for (let index = 0; index < COMMITS; index++) {
      assert.ok(await store.resource(keyOf(`name-${index}`)), `commit ${index} was acknowledged`);
    }
  });

  it("is neither acknowledged nor readable when its sync fails, and the failure is fatal", async (t) => {
    const run = await runWithShim(t, { failLast: true });
    if (!run) return;
    assert.equal(run.log.filter((line) => line === "ack").length, COMMITS - 1);
    const last = run.log.slice(run.log.lastIndexOf("ack") + 1).filter((line) => line !== "write");
    assert.deepEqual(last.sort(), [
      "fatal: the store's writer failed: SQLITE_IOERR_FSYNC: disk I/O error",
      "rejected",
    ]);
    // What the failed sync left in the log must reach the disk before anything is built on it.
    await assert.rejects(run.again(), /SQLITE_IOERR_FSYNC/);
  });
});

interface ShimRun {
  readonly log: readonly string[];
  /** A data folder as a loss of power would leave it. */
  readonly syncedDir: string;
  /** Starts another process on the same store, with syncs as they were at the end. */
  again(): Promise<unknown>;
}

/** Makes commits in a process whose syncs are watched and slowed down, and then kills it. */
async function runWithShim(
  t: TestContext,
  { failLast }: { failLast: boolean },
): Promise<ShimRun | undefined> {
  const dir = tempDir(t);
  const shim = join(dir, "sync-shim.so");
  try {
    execFileSync("cc", ["-shared", "-fPIC", "-o", shim, SHIM_SOURCE, "-ldl"]);
  } catch (error) {
    skipOrFail(t, `the sync shim cannot be compiled here: ${String(error)}`);
    return undefined;
  }
  const syncedDir = join(dir, "synced");
  mkdirSync(syncedDir);
  const log = join(dir, "log");
  const failFile = join(dir, "fail");
  const env = {
    LD_PRELOAD: shim,
    SYNC_SHIM_LOG: log,
    SYNC_SHIM_COPY: syncedDir,
    SYNC_SHIM_FAIL: failFile,
    SYNC_SHIM_US: SYNC_US,
  };
  const lastFile = failLast ? failFile : "";
  const again = () => runCommits(t, { dataDir: join(dir, "data"), log, count: COMMITS, lastFile, env });
  const child = await again();
  await child.kill();
  assert.equal(existsSync(failFile), failLast);
  return { log: readFileSync(log, "utf8").trim().split("\n"), syncedDir, again };
}
