import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { AgentProgram, Surroundings } from "../runner.js";
import { bwrapArguments, type HiddenPath } from "./bwrap-view.js";

/** A command line, ready to be spawned. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** The agent's command line within its view; `spec` has been through `prepareFolders`. */
export async function sandboxed(
  bwrap: string,
  spec: Surroundings & { readonly program: AgentProgram },
  launch: Launch,
  path: string,
): Promise<Launch> {
  const shown = [...(spec.program.readable ?? []), ...(spec.readable ?? [])];
  const readable = [...shown, launch.command, "/etc/resolv.conf", ...path.split(":")];
  const view = bwrapArguments({
    home: spec.home,
    cwd: spec.cwd,
    hidden: (await Promise.all(spec.hide.map(hiddenPath))).flat(),
    scratch: await scratchFolders(),
    readable: (await Promise.all(readable.map(readablePath))).flat(),
  });
  return { command: bwrap, args: [...view, "/bin/sh", "-c", LINGER, "sh", launch.command, ...launch.args] };
}

/**
 * Runs the program, then gives what it has started up to two seconds to end by itself. Bubblewrap takes everything with
 * it the moment its program ends, and Claude Code's adapter ends before the process beneath has written its session.
 * Two entries stay: bubblewrap and this shell, which outlives a TERM that asks all of them to end.
 */
const LINGER =
  'trap : TERM; "$@"; code=$?; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do ' +
  "set -- /proc/[0-9]*; [ $# -gt 2 ] || break; sleep 0.1; done; exit $code";

/** `/run` too: sockets work through a read-only mount, and one of them may be the container engine's. */
async function scratchFolders(): Promise<string[]> {
  const found = await Promise.all(
    ["/tmp", "/run", "/var/run"].map((folder) => realpath(folder).catch(() => undefined)),
  );
  return [...new Set(found.filter((folder) => folder !== undefined))];
}

async function hiddenPath(path: string): Promise<HiddenPath[]> {
  const real = await realpath(path).catch(() => undefined);
  // What is not there needs no hiding, and nothing can be mounted on it.
  if (real === undefined) return [];
  return [{ path: real, kind: (await stat(real)).isDirectory() ? "folder" : "file" }];
}

async function readablePath(path: string): Promise<{ path: string; source: string }[]> {
  if (!isAbsolute(path)) return [];
  const source = await realpath(path).catch(() => undefined);
  if (source === undefined) return [];
  // A link keeps its place, and what it points to has to be there as well.
  return source === path
    ? [{ path, source }]
    : [
        { path, source },
        { path: source, source },
      ];
}
