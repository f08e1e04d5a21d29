import type { Push } from "../workspaces.js";
import { BASE, type Making, resolved } from "./checkout.js";

/** The commit of the agent's branch that was told last; what is told is derived from it, so that a crash loses none. */
const TOLD = "refs/retinue/told";
const MAX_FILES = 20_000;
const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** Tells of the branch where it has moved since it was last told. At least once. */
export async function tellPush(making: Making, repo: string): Promise<void> {
  const { spec, places, git } = making;
  const cwd = places.of(spec.uid).origin(repo);
  const [commit, told] = await Promise.all([
    resolved(making, cwd, `refs/heads/${spec.branch}`),
    resolved(making, cwd, TOLD),
  ]);
  if (commit === "" || commit === told) return;
  const files = await touchedFiles(making, cwd, told, commit);
  const push: Push = { repo, branch: spec.branch, commit, files };
  await spec.onPush(push);
  await git({ cwd, args: ["update-ref", TOLD, commit] });
}

/** Since the last push; at the first, since the branch left its base. */
async function touchedFiles(
  making: Making,
  cwd: string,
  told: string,
  commit: string,
): Promise<readonly string[]> {
  const from = told || (await forkPoint(making, cwd, commit)) || EMPTY_TREE;
  const args = ["diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", from, commit, "--"];
  const names = await making.git({ cwd, args });
  return names.split("\0").filter(Boolean).slice(0, MAX_FILES);
}

export async function forkPoint(making: Making, cwd: string, commit: string): Promise<string> {
  const base = await resolved(making, cwd, BASE);
  if (base === "") return "";
  // Without a common commit git says nothing and ends with 1.
  return making.git({ cwd, args: ["merge-base", base, commit] }).then(
    (answer) => answer.trim(),
    () => "",
  );
}
