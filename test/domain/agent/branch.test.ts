import assert from "node:assert/strict";
import { test } from "node:test";
import { branchOf } from "../../../src/domain/agent/branch.js";
import { gitBranchViolation } from "../../../src/domain/catalog/kinds/git-branch.js";
import { spawned } from "./fixtures.js";

const ROWS: [string, string][] = [
  ["ann", "ann"],
  ["ann@example.com", "ann@example.com"],
  ["Ann Smith", "Ann-Smith"],
  ["a..b", "a.b"],
  ["a/b\\c:d~e^f?g*h[i", "a-b-c-d-e-f-g-h-i"],
  [".hidden.", "hidden"],
  ["-flag", "flag"],
  ["x.lock", "x-lock"],
  ["@", "account"],
  ["\u00e9", "account"],
];

for (const [account, part] of ROWS) {
  test(`the branch of an agent of ${JSON.stringify(account)} is one that git takes`, () => {
    const agent = spawned();
    const uid = "0123456789abcdef";
    const branch = branchOf({ ...agent, uid, key: { ...agent.key, account, path: ["root", "leaf.x"] } });
    assert.equal(branch, `retinue/${part}/leaf.x-01234567`);
    assert.equal(gitBranchViolation(branch), undefined);
  });
}
