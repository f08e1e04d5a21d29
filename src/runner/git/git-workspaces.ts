import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_ENVIRONMENT } from "../acp/environment.js";
import { fatal, passing, RunnerError } from "../runner-error.js";
import type { RepoSpec, WorkspaceSpec, Workspaces } from "../workspaces.js";
import { BASE, type Making, makeCheckout, makeOrigin } from "./checkout.js";
import { GATE_PROGRAM, openGate } from "./gate.js";
import { createGit, type GitEnvironment, gitEnvironment } from "./git.js";
import { createMirrors } from "./mirrors.js";
import { createPlaces, isThere } from "./places.js";
import { tellPush } from "./pushes.js";
import { upstreamOf } from "./upstream.js";

export interface GitWorkspacesOptions {
  readonly dataDir: string;
  /** Of the server's user: its keys and credential helpers reach upstreams. */
  readonly home: string;
  /** Folders below which a workspace may name local repositories. */
  readonly localRepos: readonly string[];
}

/** Workspaces on git, each command a process of its own. */
export async function createGitWorkspaces(options: GitWorkspacesOptions): Promise<Workspaces> {
  const { localRepos } = options;
  const environment: GitEnvironment = { PATH: DEFAULT_ENVIRONMENT.PATH, HOME: options.home };
  const git = createGit(environment);
  const places = await createPlaces(options.dataDir);
  const mirrors = createMirrors(git, places);

  async function makeReady(making: Making, repo: RepoSpec): Promise<void> {
    const { spec } = making;
    const own = places.of(spec.uid);
    const mirror = places.mirror(spec.tenant, repo.url);
    if ((await isThere(own.origin(repo.name))) && (await isThere(own.checkout(repo.name)))) return;
    const name = `clone ${repo.name}`;
    spec.onStep({ name, state: "started", output: "" });
    try {
      if (!(await isThere(own.origin(repo.name)))) {
        const upstream = await upstreamOf(repo.url, localRepos);
        await makeOrigin(making, repo, await mirrors.refresh(spec.tenant, repo.url, upstream, spec));
      }
      await makeCheckout(making, repo, mirror);
    } catch (error) {
      if (spec.signal.aborted) throw new RunnerError(passing("start_aborted", "the start was given up"));
      const cause = error instanceof Error ? error.message : String(error);
      spec.onStep({ name, state: "failed", output: cause });
      throw new RunnerError(
        fatal("workspace_setup", `repository ${repo.name} could not be cloned: ${cause}`),
      );
    }
    spec.onStep({ name, state: "done", output: "" });
  }

  return {
    async open(spec: WorkspaceSpec) {
      const making: Making = { git, places, spec };
      const own = places.of(spec.uid);
      for (const repo of spec.repos) await makeReady(making, repo);
      const names = new Set(spec.repos.map(({ name }) => name));
      for (const name of names) await tellPush(making, name);
      /** One after the other: each starts from what the one before told. */
      let telling: Promise<unknown> = Promise.resolve();
      const gate = await openGate({
        folder: own.gate,
        originOf: (repo) => (names.has(repo) ? own.origin(repo) : undefined),
        env: gitEnvironment(environment, spec),
        onReceived(repo) {
          const told = telling.then(() => tellPush(making, repo));
          telling = told.catch(() => {});
          return told;
        },
      });
      const borrowed = spec.repos.map(({ url }) => join(places.mirror(spec.tenant, url), "objects"));
      return {
        readable: [own.gate, ...GATE_PROGRAM, ...borrowed],
        ready: await isThere(own.ready),
        markReady: () => writeFile(own.ready, ""),
        close: gate.close,
      };
    },

    async forward({ uid, repo, branch, commit, url }) {
      const { url: to, protocol: upstream } = await upstreamOf(url, localRepos);
      const cwd = places.of(uid).origin(repo);
      // The branch is the agent's own, so that it may be moved back as well as forth.
      const args = ["push", "--quiet", "--force", "--", to, `${commit}:refs/heads/${branch}`];
      await git({ cwd, upstream, args });
    },

    async look(uid, tenant, repo) {
      const own = places.of(uid);
      if (repo === undefined || !(await isThere(own.checkout(repo.name)))) return undefined;
      const args = ["for-each-ref", "--format=%(objectname)", BASE];
      const base = await git({ cwd: own.origin(repo.name), args });
      return { base: base.trim(), readable: [join(places.mirror(tenant, repo.url), "objects")] };
    },

    list: () => places.agents(),

    remove: (uid) => rm(places.of(uid).root, { recursive: true, force: true }),
  };
}
