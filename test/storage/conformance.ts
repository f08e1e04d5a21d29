import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { type Change, StaleCommit, type Store, StoreBusy } from "../../src/storage/store.js";
import { audit, key, keyOf, opened, put, putKey, resource, TENANT, tempDir, tombstone } from "./fixtures.js";

export type OpenStore = (dataDir: string) => Promise<Store>;

/** The promises of the storage port. Every engine runs this suite and passes all of it. */
export function storeConformance(name: string, open: OpenStore): void {
  describe(`${name} keeps the promises of the storage port`, { timeout: 120_000 }, () => {
    commits(open);
    concurrency(open);
    resources(open);
    references(open);
    secrets(open);
    keys(open);
    auditLog(open);
    ledger(open);
    lifetime(open);
  });
}

async function fresh(t: TestContext, open: OpenStore): Promise<Store> {
  return opened(t, open(join(tempDir(t), "data")));
}

async function commitAll(store: Store, changes: readonly Change[]): Promise<void> {
  await Promise.all(changes.map((change) => store.commit([change])));
}

function staleAt(changeIndex: number): (error: unknown) => boolean {
  return (error) => error instanceof StaleCommit && error.changeIndex === changeIndex;
}

function commits(open: OpenStore): void {
  it("writes all changes of a commit, readable once it has resolved", async (t) => {
    const store = await fresh(t, open);
    await store.commit([put("main", 1), putKey("k1"), audit("a1")]);
    assert.deepEqual(await store.resource(keyOf("main")), resource("main", 1));
    assert.deepEqual(await store.key("k1"), key("k1"));
    assert.deepEqual(await store.audit(auditQuery()), [audit("a1").record]);
  });

  it("writes nothing of a commit whose last precondition fails, and names that change", async (t) => {
    const store = await fresh(t, open);
    await store.commit([put("taken", 1)]);
    const changes = [put("main", 1), putKey("k1"), audit("a1"), put("taken", 1)];
    await assert.rejects(store.commit(changes), staleAt(3));
    assert.equal(await store.resource(keyOf("main")), undefined);
    assert.deepEqual(await store.versions({ ...keyOf("main"), beforeGeneration: undefined, limit: 10 }), []);
    assert.equal(await store.key("k1"), undefined);
    assert.deepEqual(await store.audit(auditQuery()), []);
  });

  it("fails a stale commit alone: neighbours of the same moment stand", async (t) => {
    const store = await fresh(t, open);
    await store.commit([put("main", 1)]);
    const outcomes = await Promise.allSettled([
      store.commit([put("before", 1), audit("a1")]),
      store.commit([put("half", 1), put("main", 1), audit("a2")]),
      store.commit([put("after", 1), audit("a3")]),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    const names = (await store.resources(workspaces())).map((found) => found.name);
    assert.deepEqual(names, ["after", "before", "main"]);
    assert.deepEqual(await auditIds(store), ["a3", "a1"]);
  });

  it("refuses a generation other than the stored one, older or newer", async (t) => {
    const store = await fresh(t, open);
    await commitAll(store, [put("main", 1), put("main", 2)]);
    for (const ifGeneration of [0, 1, 3]) {
      await assert.rejects(store.commit([{ ...put("main", 9), ifGeneration }]), staleAt(0));
    }
    assert.deepEqual(await store.resource(keyOf("main")), resource("main", 2));
  });

  it("refuses to update a resource that was never stored", async (t) => {
    const store = await fresh(t, open);
    await assert.rejects(store.commit([put("main", 2)]), staleAt(0));
    assert.equal(await store.resource(keyOf("main")), undefined);
  });

  it("applies commits in the order of the calls, none of them awaited", async (t) => {
    const store = await fresh(t, open);
    const settled: number[] = [];
    const generations = Array.from({ length: 200 }, (_, index) => index + 1);
    await Promise.all(
      generations.map((generation) =>
        store.commit([put("main", generation)]).then(() => settled.push(generation)),
      ),
    );
    assert.deepEqual(settled, generations);
    assert.equal((await store.resource(keyOf("main")))?.generation, 200);
  });

  it("fails what was built on a commit that failed", async (t) => {
    const store = await fresh(t, open);
    const stale = store.commit([put("main", 1), put("missing", 5)]);
    const dependant = store.commit([put("main", 2)]);
    await assert.rejects(stale, staleAt(1));
    await assert.rejects(dependant, staleAt(0));
  });

  it("takes a commit without changes", async (t) => {
    const store = await fresh(t, open);
    await store.commit([]);
  });
}

function concurrency(open: OpenStore): void {
  it("loses no update of 20 writers that compare, swap and retry", async (t) => {
    const store = await fresh(t, open);
    await store.commit([put("counter", 1, { document: "0" })]);
    async function increment(): Promise<void> {
      for (;;) {
        const now = await store.resource(keyOf("counter"));
        assert.ok(now);
        const next = put("counter", now.generation + 1, { document: String(Number(now.document) + 1) });
        try {
          return await store.commit([next]);
        } catch (error) {
          if (!(error instanceof StaleCommit)) throw error;
        }
      }
    }
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let round = 0; round < 5; round++) await increment();
      }),
    );
    const counter = await store.resource(keyOf("counter"));
    assert.equal(counter?.document, "100");
    assert.equal(counter?.generation, 101);
  });

  it("lets exactly one of 20 parallel creates win", async (t) => {
    const store = await fresh(t, open);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => store.commit([put("main", 1, { document: `${index}` })])),
    );
    const winners = outcomes.flatMap(({ status }, index) => (status === "fulfilled" ? [`${index}`] : []));
    assert.equal(winners.length, 1);
    assert.equal((await store.resource(keyOf("main")))?.document, winners[0]);
  });

  it("never shows half a commit to a reader", async (t) => {
    const store = await fresh(t, open);
    let writing = true;
    async function write(): Promise<void> {
      for (let generation = 1; generation <= 100; generation++) {
        await store.commit([put("left", generation), put("right", generation)]);
      }
      writing = false;
    }
    async function read(): Promise<void> {
      while (writing) {
        const generations = (await store.resources(workspaces())).map((found) => found.generation);
        assert.ok(generations.length === 0 || generations.length === 2, `${generations.length} of 2 rows`);
        assert.equal(generations[0], generations[1]);
        await new Promise(setImmediate);
      }
    }
    await Promise.all([write(), read()]);
  });

  it("turns commits away with StoreBusy when too many are pending, and keeps the others", async (t) => {
    const store = await fresh(t, open);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20_000 }, (_, index) => store.commit([putKey(`k${index}`)])),
    );
    const refused = outcomes.flatMap((outcome, index) => (outcome.status === "rejected" ? [index] : []));
    assert.ok(refused.length > 0 && refused.length < outcomes.length);
    for (const index of refused) {
      assert.ok((outcomes[index] as PromiseRejectedResult).reason instanceof StoreBusy);
    }
    assert.equal(await store.key(`k${refused[0]}`), undefined);
    assert.ok(await store.key(`k${(refused[0] as number) - 1}`));
    await store.commit([put("main", 1)]);
  });
}

function resources(open: OpenStore): void {
  it("answers undefined for a resource of another tenant, kind or name", async (t) => {
    const store = await fresh(t, open);
    await store.commit([put("main", 1)]);
    for (const other of [{ tenant: "codehost_app/other" }, { kind: "skill" }, { name: "mai" }]) {
      assert.equal(await store.resource({ ...keyOf("main"), ...other }), undefined);
    }
  });

  it("knows every tenant that has a document or a key, once", async (t) => {
    const store = await fresh(t, open);
    assert.deepEqual(await store.tenants(), []);
    const other = put("main", 1, { tenant: "idp_oidc/acme" });
    await commitAll(store, [
      put("main", 1),
      other,
      { type: "key", key: key("KEY", { tenant: "idp_oidc/keys" }) },
    ]);
    assert.deepEqual((await store.tenants()).sort(), [TENANT, "idp_oidc/acme", "idp_oidc/keys"]);
  });

  it("keeps a tombstone that is readable, not listed, and goes on counting", async (t) => {
    const store = await fresh(t, open);
    await commitAll(store, [put("main", 1), tombstone("main", 2)]);
    assert.deepEqual(await store.resource(keyOf("main")), tombstone("main", 2).resource);
    assert.deepEqual(await store.resources(workspaces()), []);
    await assert.rejects(store.commit([put("main", 1)]), staleAt(0));
    await store.commit([put("main", 3)]);
    assert.deepEqual(await store.resources(workspaces()), [resource("main", 3)]);
  });

  it("keeps every version with its justification, newest first, in pages", async (t) => {
    const store = await fresh(t, open);
    await commitAll(store, [
      put("main", 1),
      put("main", 2),
      tombstone("main", 3),
      put("main", 4),
      put("mainly", 1),
    ]);
    const page = (beforeGeneration: number | undefined, limit: number) =>
      store.versions({ ...keyOf("main"), beforeGeneration, limit });
    assert.deepEqual(await page(undefined, 2), [
      { ...resource("main", 4), justification: "reason 4" },
      { ...tombstone("main", 3).resource, justification: "reason 3" },
    ]);
    assert.deepEqual(
      (await page(3, 10)).map((version) => version.document),
      ['{"generation":2}', '{"generation":1}'],
    );
    assert.deepEqual(await page(1, 10), []);
  });

  it("lists live resources of one tenant and kind by name, in pages", async (t) => {
    const store = await fresh(t, open);
    const names = ["b", "a-2", "c", "a", "a_1", "B"];
    await commitAll(store, [
      ...names.map((name) => put(name, 1)),
      put("bb", 1),
      tombstone("bb", 2),
      put("a", 1, { tenant: "codehost_app/other" }),
      put("a", 1, { kind: "skill" }),
    ]);
    const pages: string[][] = [];
    for (let afterName = ""; ; ) {
      const page = await store.resources({ ...workspaces(), afterName, limit: 4 });
      if (page.length === 0) break;
      pages.push(page.map((found) => found.name));
      afterName = page.at(-1)?.name as string;
    }
    assert.deepEqual(pages, [
      ["B", "a", "a-2", "a_1"],
      ["b", "c"],
    ]);
  });

  it("stores text as it came: quotes, accents, emoji, a megabyte", async (t) => {
    const store = await fresh(t, open);
    const document = `{"text":"it's \\"quoted\\", é, 漢, 🦉 ${"x".repeat(1 << 20)}"}`;
    await store.commit([put("main", 1, { document })]);
    assert.equal((await store.resource(keyOf("main")))?.document, document);
  });
}

function references(open: OpenStore): void {
  const to = (name: string, builtin = false) => ({ kind: "workspace", name, builtin });
  const naming = (name: string, generation: number, ...references: ReturnType<typeof to>[]) => ({
    ...put(name, generation),
    references,
  });
  const unreferenced = (name: string, generation: number) => ({
    ...tombstone(name, generation),
    ifUnreferenced: true,
  });

  it("refuses a document that names one which is not there, not even as a tombstone", async (t) => {
    const store = await fresh(t, open);
    await assert.rejects(store.commit([audit("a1"), naming("a", 1, to("b"))]), staleAt(1));
    await store.commit([put("b", 1), tombstone("b", 2)]);
    await assert.rejects(store.commit([naming("a", 1, to("b"))]), staleAt(0));
    await store.commit([naming("a", 1, to("b", true))]);
  });

  it("refuses to delete what is named, until it is not any more", async (t) => {
    const store = await fresh(t, open);
    await store.commit([put("b", 1), naming("a", 1, to("b"))]);
    assert.deepEqual(await store.referrers(keyOf("b"), 10), [{ kind: "workspace", name: "a" }]);
    await assert.rejects(store.commit([unreferenced("b", 2)]), staleAt(0));
    await store.commit([naming("a", 2)]);
    await store.commit([unreferenced("b", 2)]);
    assert.deepEqual(await store.referrers(keyOf("b"), 10), []);
  });

  it("keeps what a document names when a write says nothing about it", async (t) => {
    const store = await fresh(t, open);
    await store.commit([put("b", 1), naming("a", 1, to("b")), put("a", 2)]);
    assert.equal((await store.referrers(keyOf("b"), 10)).length, 1);
  });
}

function secrets(open: OpenStore): void {
  const sealed = (value: Uint8Array | undefined) =>
    ({ type: "sealed", tenant: TENANT, name: "s", sealed: value }) as const;

  it("keeps the newest sealed value of a secret, for its tenant only, until it is removed", async (t) => {
    const store = await fresh(t, open);
    await store.commit([sealed(Buffer.from("one"))]);
    await store.commit([sealed(Buffer.from("two"))]);
    assert.equal(Buffer.from((await store.sealed(TENANT, "s")) ?? []).toString(), "two");
    assert.equal(await store.sealed("codehost_app/other", "s"), undefined);
    await store.commit([sealed(undefined)]);
    assert.equal(await store.sealed(TENANT, "s"), undefined);
  });
}

function keys(open: OpenStore): void {
  it("has no keys on a fresh store, and has keys ever after the first", async (t) => {
    const store = await fresh(t, open);
    assert.equal(await store.hasKeys(), false);
    await store.commit([putKey("k1", { revoked: true })]);
    assert.equal(await store.hasKeys(), true);
  });

  it("answers undefined for an unknown key", async (t) => {
    const store = await fresh(t, open);
    assert.equal(await store.key("k1"), undefined);
  });

  it("stores a key without expiry and with a secret that is a window on a larger buffer", async (t) => {
    const store = await fresh(t, open);
    const secretSha256 = Buffer.from(Uint8Array.from({ length: 64 }, (_, index) => index)).subarray(16, 48);
    await store.commit([putKey("k1", { secretSha256, expiresAtMs: undefined, scopes: [] })]);
    const expected = { secretSha256: new Uint8Array(secretSha256), expiresAtMs: undefined, scopes: [] };
    assert.deepEqual(await store.key("k1"), key("k1", expected));
  });

  it("replaces what a key may do, revocation included, but not when it was last used", async (t) => {
    const store = await fresh(t, open);
    await store.commit([putKey("k1"), { type: "keyUsed", keyId: "k1", atMs: 500 }]);
    await store.commit([putKey("k1", { revoked: true, role: "viewer", lastUsedAtMs: undefined })]);
    assert.deepEqual(await store.key("k1"), key("k1", { revoked: true, role: "viewer", lastUsedAtMs: 500 }));
  });

  it("moves a key's last use forward only, and of that key only", async (t) => {
    const store = await fresh(t, open);
    await store.commit([putKey("k1"), putKey("k2")]);
    const seen: (number | undefined)[] = [];
    for (const atMs of [1_800_000_000_500, 1_800_000_000_400, 1_800_000_000_600]) {
      await store.commit([{ type: "keyUsed", keyId: "k1", atMs }]);
      seen.push((await store.key("k1"))?.lastUsedAtMs);
    }
    assert.deepEqual(seen, [1_800_000_000_500, 1_800_000_000_500, 1_800_000_000_600]);
    assert.equal((await store.key("k2"))?.lastUsedAtMs, undefined);
  });

  it("ignores the use of an unknown key, and writes the rest of that commit", async (t) => {
    const store = await fresh(t, open);
    await store.commit([{ type: "keyUsed", keyId: "gone", atMs: 500 }, audit("a1")]);
    assert.deepEqual(await auditIds(store), ["a1"]);
    assert.equal(await store.hasKeys(), false);
  });
}

function auditQuery(more: object = {}) {
  const none = {
    beforeAuditId: undefined,
    fromAuditId: undefined,
    outcome: undefined,
    actor: undefined,
    action: undefined,
    target: undefined,
  };
  return { tenant: TENANT, limit: 100, ...none, ...more };
}

async function auditIds(store: Store, more: object = {}): Promise<string[]> {
  return (await store.audit(auditQuery(more))).map((record) => record.auditId);
}

function workspaces() {
  return { tenant: TENANT, kind: "workspace", afterName: "", limit: 100 };
}

function auditLog(open: OpenStore): void {
  it("lists the audit log of one tenant newest first, in pages, whatever the order of writing", async (t) => {
    const store = await fresh(t, open);
    await commitAll(store, [audit("a2"), audit("a4"), audit("a1"), audit("a3")]);
    await store.commit([audit("a5", { tenant: "codehost_app/other" })]);
    assert.deepEqual(await auditIds(store, { limit: 3 }), ["a4", "a3", "a2"]);
    assert.deepEqual(await auditIds(store, { limit: 3, beforeAuditId: "a2" }), ["a1"]);
    assert.deepEqual(await auditIds(store, { beforeAuditId: "a1" }), []);
  });

  it("filters the audit log by actor, action and target, alone, together and in pages", async (t) => {
    const store = await fresh(t, open);
    const bob = { actor: "codehost_app/bob" };
    const remove = { action: "CatalogService/DeleteResource" };
    const dev = { target: "workspace/dev" };
    await commitAll(store, [
      audit("a1", bob),
      audit("a2", remove),
      audit("a3", dev),
      audit("a4", { ...bob, ...remove }),
      audit("a5", { ...bob, ...remove, ...dev }),
      audit("a6"),
    ]);
    const rows: readonly [filter: object, ids: string[]][] = [
      [bob, ["a5", "a4", "a1"]],
      [remove, ["a5", "a4", "a2"]],
      [dev, ["a5", "a3"]],
      [{ ...bob, ...remove }, ["a5", "a4"]],
      [{ ...bob, ...dev }, ["a5"]],
      [{ ...remove, ...dev }, ["a5"]],
      [{ ...bob, ...remove, ...dev }, ["a5"]],
      [{ ...bob, limit: 2 }, ["a5", "a4"]],
      [{ ...bob, beforeAuditId: "a5" }, ["a4", "a1"]],
      [{ actor: "codehost_app/nobody" }, []],
    ];
    for (const [filter, ids] of rows) {
      assert.deepEqual(await auditIds(store, filter), ids, JSON.stringify(filter));
    }
  });

  it("keeps a refusal with all its fields", async (t) => {
    const store = await fresh(t, open);
    const refused = audit("a1", { outcome: "REFUSED", justification: "", generationAfter: 1, keyId: "k9" });
    await store.commit([refused]);
    assert.deepEqual(await store.audit(auditQuery()), [refused.record]);
  });

  it("does not write a commit a second time: its audit id is taken", async (t) => {
    const store = await fresh(t, open);
    await store.commit([putKey("k1", { role: "viewer" }), audit("a1")]);
    await assert.rejects(store.commit([putKey("k1", { role: "admin" }), audit("a1")]), staleAt(1));
    assert.equal((await store.key("k1"))?.role, "viewer");
  });
}

function ledger(open: OpenStore): void {
  const agent = (uid: string, parentUid = ""): Change => ({
    type: "agent",
    ifVersion: 0,
    row: {
      uid,
      tenant: TENANT,
      ownerProvider: 1,
      account: "ada",
      workspace: "default",
      path: parentUid === "" ? uid : `${parentUid}/${uid}`,
      parentUid,
      phase: 1,
      live: true,
      unsettled: true,
      version: 1,
      lastSeq: 0,
      createdAtMs: 1,
      endedAtMs: undefined,
      state: "{}",
    },
  });
  const used = (uid: string, runId: number, attempt: number, cost: number): Change => ({
    type: "usage",
    row: {
      uid,
      runId,
      attempt,
      model: "m",
      inputTokens: 1,
      cachedInputTokens: 2,
      outputTokens: 3,
      cost,
      atMs: runId,
    },
  });
  const from = { path: "", uid: "", runId: 0, attempt: 0 };

  it("adds up what an attempt has used, and pages through a tree with its sum", async (t) => {
    const store = await fresh(t, open);
    await store.commit([agent("a"), agent("b", "a"), agent("stranger")]);
    await commitAll(store, [used("a", 1, 1, 0.1), used("a", 1, 1, 0.2), used("a", 1, 2, 1)]);
    await commitAll(store, [used("b", 1, 1, 2), used("stranger", 1, 1, 9)]);
    const own = await store.usage({ uid: "a", descendants: false, after: from, limit: 10 });
    assert.deepEqual(
      own.rows.map(({ runId, attempt, inputTokens, cost }) => [runId, attempt, inputTokens, cost]),
      [
        [1, 1, 2, 0.3],
        [1, 2, 1, 1],
      ],
    );
    const tree = await store.usage({ uid: "a", descendants: true, after: from, limit: 2 });
    assert.deepEqual(tree.total, { inputTokens: 4, cachedInputTokens: 8, outputTokens: 12, cost: 3.3 });
    const [, last] = tree.rows;
    const rest = await store.usage({ uid: "a", descendants: true, after: last ?? from, limit: 2 });
    assert.deepEqual(
      rest.rows.map(({ path, cost }) => [path, cost]),
      [["a/b", 2]],
    );
  });
}

function lifetime(open: OpenStore): void {
  it("waits for pending commits on close, and finds everything when it is opened again", async (t) => {
    const dataDir = join(tempDir(t), "data");
    const first = await opened(t, open(dataDir));
    const pending = [put("main", 1), putKey("k1"), audit("a1"), put("main", 2)].map((c) => first.commit([c]));
    await first.close();
    await Promise.all(pending);
    const second = await opened(t, open(dataDir));
    assert.deepEqual(await second.resource(keyOf("main")), resource("main", 2));
    assert.equal(
      (await second.versions({ ...keyOf("main"), beforeGeneration: undefined, limit: 9 })).length,
      2,
    );
    assert.deepEqual(await second.key("k1"), key("k1"));
    assert.deepEqual(await auditIds(second), ["a1"]);
  });

  it("refuses commits and reads after close, which may be called twice", async (t) => {
    const store = await fresh(t, open);
    await Promise.all([store.close(), store.close()]);
    await assert.rejects(store.commit([put("main", 1)]));
    await assert.rejects(store.resource(keyOf("main")));
  });

  it("refuses a second server on the same data folder, and admits it once the first is gone", async (t) => {
    const dataDir = join(tempDir(t), "data");
    const first = await opened(t, open(dataDir));
    await assert.rejects(opened(t, open(dataDir)), (error: Error) => error.message.includes(dataDir));
    await first.commit([put("main", 1)]);
    await first.close();
    const second = await opened(t, open(dataDir));
    assert.ok(await second.resource(keyOf("main")));
  });
}
