import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import Database from "better-sqlite3";
import { createSecrets } from "../../src/engine/catalog/secrets.js";
import { createVault } from "../../src/engine/vault.js";
import { backupDataFolder } from "../../src/storage/sqlite/backup.js";
import { openSqliteStore } from "../../src/storage/sqlite/open.js";
import { temporaryFolder } from "../support/folder.js";
import { encode, rest, startServer, type TestServer } from "../support/server.js";

const VALUE = "correct horse battery staple";
const TENANT = "codehost_app/local";

describe("secrets", () => {
  let server: TestServer;
  const ask = (method: string, path: string, body?: object) =>
    rest(server, server.adminKey, method, `/v1/catalog/${path}`, body);
  const write = (document: object, more: object = {}) =>
    ask("POST", "secret/db", { payload: encode(document), ...more });

  before(async () => {
    server = await startServer();
    assert.equal((await write({ value: "the first one" })).status, 200);
    assert.equal((await write({ value: VALUE })).status, 200);
  });

  /** What the server itself makes of a data folder that nobody uses. */
  async function valueIn(dataDir: string): Promise<string | undefined> {
    const store = await openSqliteStore({ dataDir, onFatal: assert.fail });
    try {
      const key = Buffer.from(readFileSync(join(dataDir, "master.key"), "utf8"), "base64");
      return await createSecrets(store, createVault(key)).secretValue(TENANT, "db");
    } finally {
      await store.close();
    }
  }

  it("are in no answer, no history and no log", async () => {
    for (const path of ["secret/db", "secret", "secret/db/history"]) {
      const { body } = await ask("GET", path);
      const text = JSON.stringify(body, (key, value) =>
        key === "payload" ? Buffer.from(value, "base64").toString() : value,
      );
      assert.ok(text.includes("valueVersion") && !text.includes(VALUE), path);
    }
    assert.ok(!server.logged.join("").includes(VALUE));
  });

  it("are on disk only as the master key has made them, and only the newest", () => {
    for (const name of readdirSync(server.dataDir)) {
      if (!statSync(join(server.dataDir, name)).isFile()) continue;
      assert.ok(!readFileSync(join(server.dataDir, name)).includes(VALUE), name);
    }
    const db = new Database(join(server.dataDir, "retinue.db"), { readonly: true });
    assert.equal(db.prepare("SELECT count(*) FROM secret").pluck().get(), 1);
    db.close();
    assert.equal(statSync(join(server.dataDir, "master.key")).mode & 0o777, 0o600);
  });

  it("are kept by a write that says nothing about the value", async () => {
    const patched = await write({ description: "x" }, { updateMask: "description" });
    assert.equal(patched.status, 200);
    assert.ok(Buffer.from(patched.body.payload, "base64").includes('"valueVersion":"2"'));
  });

  it("can be read by the server out of a backup", async () => {
    const copy = join(temporaryFolder(), "copy");
    await backupDataFolder(server.dataDir, copy);
    assert.equal(await valueIn(copy), VALUE);
  });

  it("are not given up for a master key that is lost: the server says so instead of making another", async () => {
    const copy = join(temporaryFolder(), "copy");
    await backupDataFolder(server.dataDir, copy);
    rmSync(join(copy, "master.key"));
    await assert.rejects(
      startServer({ data: copy }),
      /master\.key is missing, and secret 'db' .* needs the key/,
    );
    assert.ok(!existsSync(join(copy, "master.key")));
  });

  it("need keys:manage, to read as well", async () => {
    const answer = await ask("POST", "token/reader", {
      payload: encode({ scopes: ["catalog:read", "catalog:write"] }),
    });
    const { key } = JSON.parse(Buffer.from(answer.body.payload, "base64").toString());
    assert.equal((await rest(server, key, "GET", "/v1/catalog/secret/db")).status, 403);
    const write = { payload: encode({ value: "x" }) };
    assert.equal((await rest(server, key, "POST", "/v1/catalog/secret/db", write)).status, 403);
  });

  it("are gone with their document", async () => {
    assert.equal((await ask("DELETE", "secret/db")).status, 200);
    await server.close();
    assert.equal(await valueIn(server.dataDir), undefined);
  });
});
