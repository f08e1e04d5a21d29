import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createGitWorkspaces } from "../../src/runner/git/git-workspaces.js";
import { RunnerError } from "../../src/runner/runner-error.js";
import type { Push, SetupStep, WorkspaceSpec } from "../../src/runner/workspaces.js";
import { temporaryFolder } from "../support/folder.js";
import { git, gitAsync, makeUpstream } from "../support/repository.js";

const folder = temporaryFolder();
const upstream = makeUpstream(join(folder, "shop.git"), { "README.md": "The shop\n" });
const BRANCH = "retinue/ann/leaf-01234567";

async function fixture(dataDir = join(temporaryFolder(), "data")) {
  const workspaces = await createGitWorkspaces({ dataDir, home: "/nonexistent", localRepos: [folder] });
  const steps: SetupStep[] = [];
  const pushes: Push[] = [];
  const spec: WorkspaceSpec = {
    uid: "agent-1",
    tenant: "codehost_app/local",
    branch: BRANCH,
    author: "leaf",
    repos: [{ name: "shop", url: upstream, baseBranch: "" }],
    parent: undefined,
    processToken: "rtn-token-1",
    onStep: (step) => void steps.push(step),
    onPush: async (push) => void pushes.push(push),
    signal: new AbortController().signal,
  };
  const checkout = join(dataDir, "agents", spec.uid, "work", "shop");
  return { dataDir, workspaces, spec, steps, pushes, checkout };
}

test("what a crash left half-made, and the locks of a git that was killed, stand in nobody's way", async () => {
  const { workspaces, spec, checkout, dataDir } = await fixture();
  await (await workspaces.open(spec)).close();
  const mirrors = join(dataDir, "mirrors");
  const mirror = join(
    mirrors,
    readdirSync(mirrors, { recursive: true, encoding: "utf8" }).find((n) => n.endsWith(".git")) ?? "",
  );
  writeFileSync(join(mirror, "packed-refs.lock"), "");
  writeFileSync(join(mirror, "refs", "heads", "main.lock"), "");
  const half = join(dataDir, "agents", "agent-2", "making");
  mkdirSync(half, { recursive: true });
  writeFileSync(join(half, "half"), "");
  await (await workspaces.open({ ...spec, uid: "agent-2" })).close();
  assert.equal(
    readFileSync(join(dataDir, "agents", "agent-2", "work", "shop", "README.md"), "utf8"),
    "The shop\n",
  );
  assert.deepEqual(readdirSync(join(dataDir, "agents", "agent-2")).sort(), ["gate", "origin", "work"]);
  assert.ok(existsSync(checkout));
});

test("a set-up that is made already is left alone", async () => {
  const { workspaces, spec, steps, checkout } = await fixture();
  await (await workspaces.open(spec)).close();
  writeFileSync(join(checkout, "README.md"), "changed\n");
  steps.length = 0;
  await (await workspaces.open(spec)).close();
  assert.deepEqual(steps, []);
  assert.equal(readFileSync(join(checkout, "README.md"), "utf8"), "changed\n");
});

test("a push succeeds once it is recorded, fails where it cannot be, and is told at the next opening", async () => {
  const { workspaces, spec, pushes, checkout } = await fixture();
  const failing = await workspaces.open({
    ...spec,
    onPush: () => Promise.reject(new Error("the disk is full")),
  });
  git(checkout, "commit", "--allow-empty", "--message", "one");
  await assert.rejects(gitAsync(checkout, "push", "--quiet", "origin", "HEAD"));
  await failing.close();
  await assert.rejects(gitAsync(checkout, "fetch", "origin"), /the server does not answer/);
  const open = await workspaces.open(spec);
  const one = git(checkout, "rev-parse", "HEAD");
  assert.deepEqual(pushes, [{ repo: "shop", branch: BRANCH, commit: one, files: [] }]);
  writeFileSync(join(checkout, "new.txt"), "new");
  git(checkout, "add", "--all");
  git(checkout, "commit", "--message", "two");
  await gitAsync(checkout, "push", "--quiet", "origin", "HEAD");
  assert.deepEqual(pushes.at(1)?.files, ["new.txt"]);
  await assert.rejects(gitAsync(checkout, "push", "origin", `:${BRANCH}`), /deletion prohibited/);
  await open.close();
});

test("a clone that is given up leaves nothing at its place", async () => {
  const { workspaces, spec, checkout } = await fixture();
  const abort = new AbortController();
  const opening = workspaces.open({ ...spec, signal: abort.signal, onStep: () => abort.abort() });
  await assert.rejects(opening, (error) => error instanceof RunnerError && error.kind === "start_aborted");
  assert.equal(existsSync(checkout), false);
  await (await workspaces.open(spec)).close();
  assert.ok(existsSync(checkout));
});
