import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Fault } from "../../src/domain/fault.js";
import { createDoor, type Door } from "../../src/engine/door.js";
import { openSqliteStore } from "../../src/storage/sqlite/open.js";
import {
  type Change,
  StaleCommit,
  type Store,
  StoreBusy,
  type StoredResource,
  StoreFull,
} from "../../src/storage/store.js";
import { temporaryFolder } from "../support/folder.js";

type Value = StoredResource | undefined;

let store: Store;
before(async () => {
  store = await openSqliteStore({
    dataDir: temporaryFolder(),
    onFatal(error) {
      throw error;
    },
  });
});

after(() => store.close());

const refOf = (name: string) => ({ tenant: "t", kind: "k", name });
const load = (name: string) => store.resource(refOf(name));

function version(
  name: string,
  before: Value,
  document: string,
): { value: StoredResource; changes: Change[] } {
  const value: StoredResource = {
    ...refOf(name),
    generation: (before?.generation ?? 0) + 1,
    deleted: false,
    document,
    createdAtMs: 0,
    createdBy: "",
    updatedAtMs: 0,
    updatedBy: "",
  };
  return {
    value,
    changes: [
      { type: "resource", resource: value, justification: "", ifGeneration: before?.generation ?? 0 },
    ],
  };
}

function increment(door: Door<Value>, name: string): Promise<number> {
  return door.change((view) => {
    const before = view.get(name);
    const { value, changes } = version(name, before, String(Number(before?.document ?? 0) + 1));
    return { values: new Map([[name, value]]), changes, reply: value.generation };
  });
}

describe("the door", () => {
  test("500 increments of one key at once each build on the one before, in far fewer syncs than increments", async () => {
    const door = createDoor<Value>({ store, load, remember: 1 });
    const replies = await Promise.all(Array.from({ length: 500 }, () => increment(door, "busy")));
    assert.deepEqual(
      replies,
      Array.from({ length: 500 }, (_, i) => i + 1),
    );
    assert.equal((await load("busy"))?.document, "500");
  });

  test("a writer beside the door makes the decision run again, on what is there now", async () => {
    const door = createDoor<Value>({ store, load, remember: 1 });
    await increment(door, "shared");
    let decisions = 0;
    const reply = await door.change((view) => {
      const before = view.get("shared");
      decisions++;
      // Somebody else commits between our look and our commit: the first time only.
      if (decisions === 1) void store.commit(version("shared", before, "100").changes);
      const { value, changes } = version("shared", before, String(Number(before?.document) + 1));
      return { values: new Map([["shared", value]]), changes, reply: value.document };
    });
    assert.equal(decisions, 2);
    assert.equal(reply, "101");
  });

  test("nothing is answered on the strength of a commit that failed: neither a reply nor a refusal", async () => {
    const gate = new Map<number, (error: Error) => void>();
    let commits = 0;
    const failing: Store = {
      ...store,
      commit: (changes) => {
        const n = ++commits;
        return n === 1 ? new Promise((_, reject) => gate.set(n, reject)) : store.commit(changes);
      },
    };
    const door = createDoor<Value>({ store: failing, load, remember: 1 });
    const first = increment(door, "ghost");
    await Promise.resolve();
    const refusal = door.change((view) => {
      if (view.get("ghost")) throw new Error("exists already");
      return { values: new Map(), changes: [], reply: "free" };
    });
    await new Promise(setImmediate);
    gate.get(1)?.(new StoreFull("full"));
    await assert.rejects(first, (error: Fault) => error.reason === "STORAGE_FULL");
    assert.equal(await refusal, "free");
  });

  test("a key that never stops changing gives up with ABORTED", async () => {
    const stale: Store = { ...store, commit: () => Promise.reject(new StaleCommit(0)) };
    const door = createDoor<Value>({ store: stale, load, remember: 1 });
    await assert.rejects(increment(door, "never"), (error: Fault) => error.reason === "CONTENTION");
  });

  test("a store that is too busy is UNAVAILABLE", async () => {
    const busy: Store = { ...store, commit: () => Promise.reject(new StoreBusy("busy")) };
    await assert.rejects(
      increment(createDoor<Value>({ store: busy, load, remember: 1 }), "later"),
      (error: Fault) => error.reason === "STORAGE_BUSY",
    );
  });

  test("a value is loaded once and then remembered, until others push it out", async () => {
    let loads = 0;
    const counting = (key: string) => {
      loads++;
      return load(key);
    };
    const door = createDoor<Value>({ store, load: counting, remember: 2 });
    for (let i = 0; i < 3; i++) await increment(door, "kept");
    assert.equal(loads, 1);
    await increment(door, "other-1");
    await increment(door, "other-2");
    await increment(door, "kept");
    assert.equal(loads, 4);
  });

  test("two keys change in one commit or not at all", async () => {
    const door = createDoor<Value>({ store, load, remember: 1 });
    const move = (fail: boolean) =>
      door.change((view) => {
        const [left, right] = [view.get("left"), view.get("right")];
        const a = version("left", left, "moved");
        const b = version("right", fail ? { ...(right as StoredResource), generation: 41 } : right, "moved");
        const values = new Map([
          ["left", a.value],
          ["right", b.value],
        ]);
        return { values, changes: [...a.changes, ...b.changes], reply: "ok" };
      });
    assert.equal(await move(false), "ok");
    await assert.rejects(move(true), (error: Fault) => error.reason === "CONTENTION");
    assert.equal((await load("left"))?.generation, 1);
  });
});
