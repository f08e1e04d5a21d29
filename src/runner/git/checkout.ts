import { appendFile, chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { quoted } from "../shell-word.js";
import type { RepoSpec, WorkspaceSpec } from "../workspaces.js";
import { type Git, GitError } from "./git.js";
import type { Mirror } from "./mirrors.js";
import { type AgentPlaces, isThere, type Places, removeLocks } from "./places.js";

/** The commit that the agent started from; absent in a repository that was empty. */
export const BASE = "refs/retinue/base";

export interface Making {
  readonly git: Git;
  readonly places: Places;
  readonly spec: WorkspaceSpec;
}

/** `origin`: the upstream as it was when the agent came, with a place for the agent's own branch. */
export async function makeOrigin(making: Making, repo: RepoSpec, mirror: Mirror): Promise<void> {
  const { places, spec } = making;
  const own = places.of(spec.uid);
  const path = own.origin(repo.name);
  if (await isThere(path)) return removeLocks(path);
  await moveInto(path, own, async (folder) => {
    const git = (...args: string[]) => making.git({ ...spec, cwd: folder, args });
    await borrowing(git, folder, mirror, ["--bare"]);
    await git("fetch", "--quiet", "--no-write-fetch-head", mirror.path, "+refs/*:refs/*");
    const base = await baseOf(making, git, repo, mirror);
    if (base !== "") await git("update-ref", BASE, base);
    await configure(join(folder, "config"), {
      transfer: { hideRefs: "refs/retinue" },
      receive: { denyDeletes: "true", maxInputSize: "512m" },
    });
    await mkdir(join(folder, "hooks"));
    await writeFile(join(folder, "hooks", "update"), updateHook(spec.branch));
    await chmod(join(folder, "hooks", "update"), 0o755);
  });
}

/** The checkout, on the agent's own branch: where it was last pushed, else at the base. */
export async function makeCheckout(making: Making, repo: RepoSpec, mirror: string): Promise<void> {
  const { places, spec } = making;
  const own = places.of(spec.uid);
  const path = own.checkout(repo.name);
  if (await isThere(path)) return;
  const origin = own.origin(repo.name);
  await moveInto(path, own, async (folder) => {
    const git = (...args: string[]) => making.git({ ...spec, cwd: folder, args });
    await borrowing(git, folder, { path: mirror }, []);
    // `origin` answers through the gate: its folder is not there for the agent.
    const gate = quoted(join(own.gate, "origin"));
    const heads = "+refs/heads/*:refs/remotes/origin/*";
    await configure(join(folder, ".git", "config"), {
      'remote "origin"': {
        url: `/retinue/${repo.name}.git`,
        fetch: heads,
        receivepack: `${gate} git-receive-pack`,
        uploadpack: `${gate} git-upload-pack`,
      },
      push: { default: "current" },
      user: { name: spec.author, email: "agent@retinue.invalid" },
    });
    await git("fetch", "--quiet", "--no-write-fetch-head", origin, heads, "+refs/tags/*:refs/tags/*");
    const start =
      (await resolved(making, origin, `refs/heads/${spec.branch}`)) || (await resolved(making, origin, BASE));
    if (start === "") await git("symbolic-ref", "HEAD", `refs/heads/${spec.branch}`);
    // The base may be a commit that no branch of origin leads to: what is fetched by name comes along.
    else {
      await git("fetch", "--quiet", "--no-write-fetch-head", origin, start);
      await git("checkout", "--quiet", "--no-track", "-b", spec.branch, start);
    }
  });
}

/** Where the agent starts: its parent's branch, else the base branch, else the upstream's default. */
async function baseOf(
  making: Making,
  git: (...args: string[]) => Promise<string>,
  repo: RepoSpec,
  mirror: Mirror,
): Promise<string> {
  const { spec, places } = making;
  if (spec.parent) {
    const origin = places.of(spec.parent.uid).origin(repo.name);
    if (await isThere(origin)) {
      const from =
        (await resolved(making, origin, `refs/heads/${spec.parent.branch}`)) ||
        (await resolved(making, origin, BASE));
      if (from !== "") await git("fetch", "--quiet", "--no-write-fetch-head", origin, from);
      return from;
    }
  }
  const branch = repo.baseBranch || mirror.head;
  const found = branch === "" ? "" : await resolved(making, mirror.path, `refs/heads/${branch}`);
  if (found !== "") return found;
  if (repo.baseBranch !== "") throw new GitError(`it has no branch ${repo.baseBranch}`);
  return "";
}

/** The commit behind a ref; empty where there is none. */
export async function resolved({ git, spec }: Making, repository: string, ref: string): Promise<string> {
  const args = ["for-each-ref", "--format=%(objectname)", ref];
  return (await git({ ...spec, cwd: repository, args })).trim();
}

async function borrowing(
  git: (...args: string[]) => Promise<string>,
  folder: string,
  from: Pick<Mirror, "path">,
  flags: readonly string[],
): Promise<void> {
  await git("init", "--quiet", "--template=", ...flags);
  const info = join(folder, flags.includes("--bare") ? "" : ".git", "objects", "info");
  await mkdir(info, { recursive: true });
  await writeFile(join(info, "alternates"), `${join(from.path, "objects")}\n`);
}

/** Adds to a file of git's settings: a process each would take longer than the clone. */
async function configure(file: string, sections: Record<string, Record<string, string>>): Promise<void> {
  const lines = Object.entries(sections).flatMap(([section, settings]) => [
    `[${section}]`,
    ...Object.entries(settings).map(([name, value]) => `\t${name} = ${JSON.stringify(value)}`),
  ]);
  await appendFile(file, `${lines.join("\n")}\n`);
}

/** Half-made things never stand at their place: a crash leaves them where the next try begins anew. */
async function moveInto(
  path: string,
  own: AgentPlaces,
  make: (folder: string) => Promise<void>,
): Promise<void> {
  await rm(own.making, { recursive: true, force: true });
  await mkdir(own.making, { recursive: true, mode: 0o700 });
  await make(own.making);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await rename(own.making, path);
}

/** The server's own hook, in a repository that no agent can write: each pushes its own branch, and says so kindly. */
function updateHook(branch: string): string {
  return `#!/bin/sh
[ "$1" = ${quoted(`refs/heads/${branch}`)} ] && exit 0
echo ${quoted(`retinue: push your own branch: git push origin HEAD:${branch}`)} >&2
exit 1
`;
}
