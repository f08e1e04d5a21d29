import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Git } from "./git.js";
import { isThere, type Places, removeLocks } from "./places.js";
import type { Upstream } from "./upstream.js";

/** Copies of upstreams: fetched once per tenant, borrowed from by every checkout. */
export interface Mirrors {
  /** The copy, as new as the upstream is now. */
  refresh(tenant: string, url: string, upstream: Upstream, how: Refresh): Promise<Mirror>;
}

export interface Refresh {
  readonly processToken: string;
  readonly signal: AbortSignal;
}

export interface Mirror {
  readonly path: string;
  /** The upstream's default branch; empty while it has none. */
  readonly head: string;
}

const EVERYTHING = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];

export function createMirrors(git: Git, places: Places): Mirrors {
  /** One fetch at a time per copy. */
  const queues = new Map<string, Promise<unknown>>();

  async function fetch(path: string, { url, protocol }: Upstream, how: Refresh): Promise<Mirror> {
    how.signal.throwIfAborted();
    const call = { ...how, upstream: protocol };
    if (await isThere(path)) {
      await removeLocks(path);
      await git({ ...call, cwd: path, args: fetchArgs(url) });
    } else {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const making = `${path}.making`;
      await rm(making, { recursive: true, force: true });
      await git({ ...how, cwd: dirname(path), args: ["init", "--quiet", "--bare", "--template=", making] });
      await git({ ...call, cwd: making, args: fetchArgs(url) });
      await rename(making, path);
    }
    const answer = await git({ ...call, cwd: path, args: ["ls-remote", "--symref", "--", url, "HEAD"] });
    return { path, head: /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(answer)?.[1] ?? "" };
  }

  return {
    refresh(tenant, url, upstream, how) {
      const path = places.mirror(tenant, url);
      const turn = (queues.get(path) ?? Promise.resolve()).then(() => fetch(path, upstream, how));
      const over = turn.catch(() => {});
      queues.set(path, over);
      void over.then(() => queues.get(path) === over && queues.delete(path));
      return turn;
    },
  };
}

function fetchArgs(url: string): string[] {
  return ["fetch", "--quiet", "--prune", "--no-write-fetch-head", "--", url, ...EVERYTHING];
}
