import { realpath } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import { GitError } from "./git.js";

/** An address as git is given it, and the only protocol that it may speak for it. */
export interface Upstream {
  readonly url: string;
  readonly protocol: "https" | "ssh" | "file";
}

/**
 * Says how an address is reached. A local one must lie in a folder that the server's flag allows, links resolved:
 * whoever writes workspaces could otherwise read every repository that the server's user can read.
 */
export async function upstreamOf(url: string, localFolders: readonly string[]): Promise<Upstream> {
  if (url.startsWith("https://")) return { url, protocol: "https" };
  const path = localPath(url);
  if (path === undefined) return { url, protocol: "ssh" };
  const real = await realpath(path).catch(() => {
    throw new GitError(`there is nothing at ${path}`);
  });
  for (const folder of localFolders) {
    const rest = relative(await realpath(folder).catch(() => folder), real);
    if (rest === "" || (!rest.startsWith("..") && !isAbsolute(rest))) return { url: real, protocol: "file" };
  }
  const allowed = localFolders.length === 0 ? "none is" : `only those below ${localFolders.join(", ")} are`;
  throw new GitError(`local repositories are allowed by the server's flag --local-repos; ${allowed}`);
}

function localPath(url: string): string | undefined {
  if (url.startsWith("/")) return url;
  if (!url.startsWith("file://")) return undefined;
  return decodeURIComponent(url.slice("file://".length).replace(/^localhost/, ""));
}
