import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import Database from "better-sqlite3";
import { openSqliteStore } from "../../src/storage/sqlite/open.js";
import { createReads } from "../../src/storage/sqlite/reads.js";
import type { AuditQuery, StoreReads } from "../../src/storage/store.js";
import { atEnd, keyOf, TENANT, tempDir } from "./fixtures.js";

type Read = (reads: StoreReads) => Promise<unknown>;

const NO_FILTER = {
  beforeAuditId: undefined,
  fromAuditId: undefined,
  outcome: undefined,
  actor: undefined,
  action: undefined,
  target: undefined,
};

function audit(filter: Partial<AuditQuery>): Read {
  return (reads) => reads.audit({ tenant: TENANT, ...NO_FILTER, ...filter, limit: 10 });
}

/** Each read and the search it must be: anything else would grow with the store, on the main thread. */
const rows: readonly [what: string, read: Read, search: RegExp][] = [
  [
    "a resource",
    (reads) => reads.resource(keyOf("main")),
    /PRIMARY KEY \(tenant=\? AND kind=\? AND name=\?\)/,
  ],
  [
    "a page of resources",
    (reads) => reads.resources({ ...keyOf(""), afterName: "a", limit: 10 }),
    /INDEX resource_live \(tenant=\? AND kind=\? AND name>\?\)/,
  ],
  [
    "a page of versions",
    (reads) => reads.versions({ ...keyOf("main"), beforeGeneration: 5, limit: 10 }),
    /PRIMARY KEY \(tenant=\? AND kind=\? AND name=\? AND generation<\?\)/,
  ],
  ["a key", (reads) => reads.key("k1"), /PRIMARY KEY \(key_id=\?\)/],
  ["the audit log", audit({}), /PRIMARY KEY \(tenant=\?\)/],
  [
    "a later page of the audit log",
    audit({ beforeAuditId: "a9" }),
    /PRIMARY KEY \(tenant=\? AND audit_id<\?\)/,
  ],
  ["what one actor did", audit({ actor: "ann" }), /INDEX audit_by_actor \(tenant=\? AND actor=\?\)/],
  [
    "how often one action was done",
    audit({ action: "Put" }),
    /INDEX audit_by_action \(tenant=\? AND action=\?\)/,
  ],
  [
    "what was done to one target",
    audit({ target: "x" }),
    /INDEX audit_by_target \(tenant=\? AND target=\?\)/,
  ],
  [
    "a later page of what was done to one target",
    audit({ target: "x", beforeAuditId: "a9" }),
    /INDEX audit_by_target \(tenant=\? AND target=\? AND audit_id<\?\)/,
  ],
  ["several filters", audit({ actor: "ann", action: "Put", target: "x" }), /INDEX audit_by_target /],
  ["an action of an actor", audit({ actor: "ann", action: "Put" }), /INDEX audit_by_actor /],
];

describe("reads of the SQLite store", () => {
  it("are searches of an index, in the order of that index", async (t) => {
    const dataDir = tempDir(t);
    await (await openSqliteStore({ dataDir, onFatal: assert.ifError })).close();
    const executed: string[] = [];
    const db = new Database(join(dataDir, "retinue.db"), { verbose: (sql) => executed.push(String(sql)) });
    atEnd(t, () => db.close());
    const reads = createReads(db);
    for (const [what, read, search] of rows) {
      await read(reads);
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${executed.pop()}`).all() as { detail: string }[];
      // A second line would be a sort.
      assert.equal(plan.length, 1, what);
      assert.match(plan[0]?.detail ?? "", search, what);
    }
  });
});
