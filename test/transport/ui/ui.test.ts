import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { fastify } from "fastify";
import { readPageFiles } from "../../../src/transport/ui/files.js";
import { registerUi } from "../../../src/transport/ui/register-ui.js";
import { exchange } from "../../support/clients.js";
import { temporaryFolder } from "../../support/folder.js";
import { startServer, type TestServer } from "../../support/server.js";

describe("the page's files", () => {
  let server: TestServer;
  let script: string;
  before(async () => {
    server = await startServer();
    const { body } = await get("/ui");
    script = /src="(\/ui\/assets\/[^"]+\.js)"/.exec(body.toString())?.[1] ?? "none";
  });
  const get = (path: string, version: "1.1" | "2" = "1.1", method = "GET") =>
    exchange(server.url, version, { path, method });

  for (const version of ["1.1", "2"] as const) {
    test(`come without a key over HTTP/${version}, and may load nothing from elsewhere`, async () => {
      const page = await get("/ui", version);
      assert.equal(page.status, 200);
      assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
      assert.equal(page.headers["x-content-type-options"], "nosniff");
      assert.equal(page.headers["cache-control"], "no-cache");
      const policy = String(page.headers["content-security-policy"]);
      assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    });
  }

  test("name their content, and are kept for ever", async () => {
    const asset = await get(script);
    assert.equal(asset.status, 200);
    assert.equal(asset.headers["content-type"], "text/javascript; charset=utf-8");
    assert.equal(asset.headers["cache-control"], "public, max-age=31536000, immutable");
    const head = await get(script, "1.1", "HEAD");
    assert.deepEqual([head.status, head.body.length], [200, 0]);
  });

  test("every place within the page is the page, an asset of another build is not", async () => {
    const page = (await get("/ui")).body.toString();
    for (const path of ["/ui/", "/ui/agents/x", "/ui/share", "/ui/catalog/persona/a.b", "/ui?x=1"]) {
      const { status, body } = await get(path);
      assert.deepEqual([status, body.toString() === page], [200, true], path);
    }
    assert.equal((await get("/ui/assets/index-gone.js")).status, 404);
    assert.equal((await get("/uix")).status, 404);
  });

  test("no path leads out of the folder", async () => {
    const page = (await get("/ui")).body.toString();
    for (const path of [
      "/ui/../../package.json",
      "/ui/%2e%2e/%2e%2e/package.json",
      "/ui/assets/..%2findex.html",
    ]) {
      const { status, body } = await get(path);
      assert.ok(
        status === 404 || body.toString() === page,
        `${path}: ${status} ${body.toString().slice(0, 80)}`,
      );
    }
  });
});

describe("a folder of page files", () => {
  test("that was not built is refused at boot", () => {
    assert.throws(() => registerUi(fastify(), temporaryFolder()), /the page is not built/);
  });

  test("with a file of a type that the page does not have is refused", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "assets"));
    writeFileSync(join(folder, "index.html"), "<p>");
    assert.deepEqual([...readPageFiles(folder).keys()], ["index.html"]);
    writeFileSync(join(folder, "assets", "a.exe"), "");
    assert.throws(() => readPageFiles(folder), /unknown type.*a\.exe/);
  });
});
