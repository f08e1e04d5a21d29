import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

test("docs/cli.md says what the commands say", () => {
  const { status, stderr } = spawnSync(process.execPath, ["docs/cli-page.mjs", "--check"], {
    cwd: root,
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
});
