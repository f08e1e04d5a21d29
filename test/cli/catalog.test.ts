import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { type CliRunner, cliOf } from "../support/cli.js";
import { temporaryFolder } from "../support/folder.js";
import { RETINUE } from "../support/process.js";
import { mintKey, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let retinue: CliRunner;

before(async () => {
  server = await startServer();
  retinue = cliOf(server, server.adminKey);
});

/** A folder with these files, by their paths. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const REVIEWER = "---\ndisplayName: Reviewer\n---\n\n# Review\n\nLook twice.\n";

describe("retinue and the catalog", { concurrency: 2 }, () => {
  test("a folder is compared, applied, and the same after that", async () => {
    const folder = folderOf({
      "persona/reviewer.md": REVIEWER,
      "rest.yaml": "kind: workspace\nname: shop\ndisplayName: Shop\n---\nkind: environment\nname: node\n",
      "README.md": "This folder is our catalog.",
    });
    const before = await retinue("diff", "-f", folder);
    assert.equal(before.code, 7);
    assert.match(before.stdout, /^\+Look twice\.$/m);
    const applied = await retinue("apply", "-f", folder, "--justification", "first");
    assert.equal(applied.code, 0, applied.stderr);
    assert.equal(
      applied.stdout,
      "persona/reviewer created, generation 1\nworkspace/shop created, generation 1\nenvironment/node created, generation 1\n",
    );
    const after = await retinue("diff", "-f", folder);
    assert.deepEqual([after.code, after.stdout], [0, ""]);
    const shown = await retinue("get", "persona", "reviewer");
    assert.equal(shown.stdout, REVIEWER.replace("---\n", "---\nkind: persona\nname: reviewer\n"));
  });

  test("edit writes what was changed in the editor, with its reason", async () => {
    await retinue("apply", "-f", folderOf({ "workspace/edited.yaml": "displayName: Before\n" }));
    const editor = cliOf(server, server.adminKey, { env: { EDITOR: "sed -i s/Before/After/" } });
    const { code, stdout } = await editor("edit", "workspace/edited", "--justification", "it is after");
    assert.deepEqual([code, stdout], [0, "workspace/edited updated, generation 2\n"]);
    const changed = await retinue("diff", "workspace/edited");
    assert.match(changed.stdout, /^-displayName: Before\n\+displayName: After$/m);
    const { stdout: history } = await retinue("history", "workspace/edited");
    assert.match(history, /^ +2 .* written +it is after\n +1 .* written$/m);
  });

  test("edit does not write over what somebody else wrote meanwhile, and keeps the text", async () => {
    await retinue("apply", "-f", folderOf({ "workspace/contested.yaml": "displayName: Before\n" }));
    const other = folderOf({ "workspace/contested.yaml": "displayName: Theirs\n" });
    const env = { EDITOR: `node ${RETINUE} apply -f ${other} && sed -i s/Before/Mine/` };
    const { code, stderr } = await cliOf(server, server.adminKey, { env })("edit", "workspace/contested");
    assert.equal(code, 5);
    assert.match(stderr, /generation/);
    assert.match(stderr, /→ somebody changed it meanwhile: .*; your text is kept in \/.*contested\.yaml/);
    const { stdout } = await retinue("get", "workspace/contested");
    assert.match(stdout, /Theirs/);
  });

  test("a secret is shown once, by itself on standard output; a document that is wrong leaves the others alone", async () => {
    const folder = folderOf({
      "token/ci.yaml": "role: viewer\naccount: ci\n",
      "workspace/wrong.yaml": "displayNam: Shop\n",
    });
    const { code, stdout, stderr } = await retinue("apply", "-f", folder);
    assert.equal(code, 2);
    assert.match(stdout, /^token\/ci created, generation 1\nrtn_\w+\.\S+\n$/);
    assert.match(stderr, /workspace\/wrong: payload\.displayNam: unknown field/);
    const again = await retinue("apply", "-f", join(folder, "token"), "-o", "json");
    assert.deepEqual(JSON.parse(again.stdout), [
      { kind: "token", name: "ci", what: "unchanged", generation: "1" },
    ]);
  });

  test("whoever may only propose is told that it is a proposal; delete and what is missing have their codes", async () => {
    const member = cliOf(server, await mintKey(server, "mia", { role: "member", account: "mia" }));
    const file = folderOf({ "persona/idea.md": "Be brief.\n" });
    const { code, stdout } = await member("apply", "-f", file);
    assert.equal(code, 0);
    const [, request = ""] =
      /^persona\/idea proposed: somebody else has to say retinue approve (\S+)$/m.exec(stdout) ?? [];
    const approved = await retinue("approve", request, "--note", "good");
    assert.deepEqual(
      [approved.code, approved.stdout],
      [0, "persona/idea written, generation 1\n"],
      approved.stderr,
    );
    assert.equal((await member("get", "token")).code, 4);
    assert.equal((await retinue("delete", "persona/idea")).code, 0, "nobody is asked where nobody is");
    assert.equal((await retinue("get", "persona/idea")).code, 3);
  });
});
