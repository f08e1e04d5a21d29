import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { createAgentCaller } from "../support/agents.js";
import { cliOf, contextsOf } from "../support/cli.js";
import { temporaryFolder } from "../support/folder.js";
import { startServer, type TestServer } from "../support/server.js";

let server: TestServer;

before(async () => {
  server = await startServer();
});

const KEY = `rtn_aaaaaaaaaaaaaaaa.${"A".repeat(43)}`;
const NOWHERE = { url: "http://127.0.0.1:1" };

describe("what goes wrong is said, with what to do next, and has a code of its own", {
  concurrency: 2,
}, () => {
  /** What is run, with which key and server, its code, and what it says. */
  const rows: [string, string[], () => { url: string }, () => string, number, RegExp][] = [
    [
      "no server",
      ["ps"],
      () => NOWHERE,
      () => KEY,
      6,
      /no Retinue server answers at http:\/\/127.0.0.1:1 \(ECONNREFUSED\)\n {2}→ start one/,
    ],
    [
      "a key that is none",
      ["ps"],
      () => server,
      () => KEY,
      4,
      /invalid API key.*\n {2}→ log in with a key that works/,
    ],
    [
      "an agent that is not there",
      ["status", "nobody"],
      () => server,
      () => server.adminKey,
      3,
      /no agent nobody\n {2}→ retinue ps --all/,
    ],
    ["a wrong option", ["ps", "--al"], () => server, () => server.adminKey, 2, /unknown option '--al'/],
  ];
  for (const [what, args, of, key, expected, says] of rows) {
    test(what, async () => {
      const { code, stdout, stderr } = await cliOf(of(), key())(...args);
      assert.equal(code, expected, stderr);
      assert.match(stderr, says);
      assert.equal(stdout, "");
    });
  }
});

describe("which server is meant", { concurrency: 2 }, () => {
  test("without a context, the key of a server on this machine is used, and that is said", async () => {
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, "data"));
    writeFileSync(join(cwd, "data", "admin.key"), `${server.adminKey}\n`);
    const port = new URL(server.url).port;
    const { code, stdout, stderr } = await cliOf({ url: "" }, undefined, {
      cwd,
      env: { RETINUE_PORT: port },
    })("whoami");
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^account +codehost_oauth\/admin$/m);
    assert.equal(stderr, `no context: using the key in data/admin.key with ${server.url}\n`);
  });

  test("that key goes to no other machine", async () => {
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, "data"));
    writeFileSync(join(cwd, "data", "admin.key"), `${server.adminKey}\n`);
    const { code, stderr } = await cliOf({ url: "https://retinue.example.com" }, undefined, { cwd })("ps");
    assert.equal(code, 4);
    assert.match(stderr, /there is no key for https:\/\/retinue\.example\.com\n {2}→ retinue login/);
  });

  test("login checks the key before it keeps it, and reads it from a file or a pipe without asking", async () => {
    const retinue = cliOf({ url: "" }, undefined);
    const file = join(temporaryFolder(), "key");
    writeFileSync(file, KEY);
    assert.equal((await retinue("login", server.url, "--key-file", file)).code, 4);
    assert.throws(() => contextsOf(retinue), /ENOENT/);
    writeFileSync(file, `${server.adminKey}\n`);
    assert.equal((await retinue("login", server.url, "--key-file", file, "--name", "here")).code, 0);
    assert.match(contextsOf(retinue), /^current: here$/m);
    assert.match((await retinue("contexts")).stdout, /^\* {2}here {2}http/m);
    assert.equal((await retinue("contexts", "rm", "here")).code, 0);
    assert.doesNotMatch(contextsOf(retinue), /rtn_/);
  });
});

test("wait's code says how it ended", async () => {
  const agents = createAgentCaller(server, server.adminKey);
  await agents.spawn("fails", "@fail no luck");
  await agents.spawn("hangs", "@hang");
  const retinue = cliOf(server, server.adminKey);
  const failed = await retinue("wait", "fails");
  assert.deepEqual([failed.code, failed.stdout], [10, "✗ fails failed: no luck\n"]);
  const timedOut = await retinue("wait", "hangs", "--timeout", "1ms");
  assert.equal(timedOut.code, 13);
  const killed = await retinue("kill", "hangs");
  assert.deepEqual([killed.code, killed.stdout], [0, "killed hangs\n"]);
  assert.equal((await retinue("wait", "hangs")).code, 11);
});
