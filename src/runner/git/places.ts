import { createHash } from "node:crypto";
import { lstat, mkdir, readdir, realpath, rm } from "node:fs/promises";
import { join } from "node:path";

/** Where the files of agents and the copies of upstreams lie. */
export interface Places {
  /** The copy of an upstream, shared by the agents of one tenant. */
  mirror(tenant: string, url: string): string;
  of(uid: string): AgentPlaces;
  /** Whoever has files. */
  agents(): Promise<string[]>;
}

export interface AgentPlaces {
  readonly root: string;
  /** The agent's own, and the only one of these that it may write beside its home. */
  checkout(repo: string): string;
  /** What the agent calls `origin`; never visible to it. */
  origin(repo: string): string;
  /** Where things are made before they are moved to their place; never visible to the agent. */
  readonly making: string;
  /** There once the set-up is complete. */
  readonly ready: string;
  /** Holds the socket that leads to `origin`; visible to the agent, read-only. */
  readonly gate: string;
}

export async function createPlaces(dataDir: string): Promise<Places> {
  const folders = { agents: join(dataDir, "agents"), mirrors: join(dataDir, "mirrors") };
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true, mode: 0o700 });
  // Borrowed objects are named by their path, which has to be the same within a sandbox.
  const [agents, mirrors] = [await realpath(folders.agents), await realpath(folders.mirrors)];
  return {
    mirror: (tenant, url) => join(mirrors, digest(tenant).slice(0, 12), `${digest(url).slice(0, 24)}.git`),
    agents: () => readdir(agents),
    of(uid) {
      const root = join(agents, uid);
      return {
        root,
        checkout: (repo) => join(root, "work", repo),
        origin: (repo) => join(root, "origin", `${repo}.git`),
        making: join(root, "making"),
        ready: join(root, "ready"),
        gate: join(root, "gate"),
      };
    },
  };
}

export async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Locks that a killed git left; nobody works on the repository now. */
export async function removeLocks(repository: string): Promise<void> {
  const names = await readdir(repository, { recursive: true }).catch(() => []);
  for (const name of names) if (name.endsWith(".lock")) await rm(join(repository, name), { force: true });
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
