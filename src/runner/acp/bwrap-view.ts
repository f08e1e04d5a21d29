import { isBelow } from "./folders.js";

/** What an agent sees of the machine: all of it read-only, but for what follows. All paths are real and absolute. */
export interface View {
  readonly home: string;
  readonly cwd: string;
  /** Replaced by nothing. */
  readonly hidden: readonly HiddenPath[];
  /** Replaced by an empty folder that the agent may fill: `/tmp`. */
  readonly scratch: readonly string[];
  /** Shown read-only where they lie below something replaced; `source` differs from `path` behind a link. */
  readonly readable: readonly { readonly path: string; readonly source: string }[];
}

export interface HiddenPath {
  readonly path: string;
  readonly kind: "folder" | "file";
}

interface Mount {
  readonly path: string;
  readonly args: readonly string[];
}

/**
 * Arguments of bubblewrap up to the command. Mounts go from the outside in, so that the deeper one always wins: the
 * agent's own folders show through the hidden data folder, and a data folder within a readable one is still hidden.
 */
export function bwrapArguments(view: View): string[] {
  const covers = [...view.scratch, ...view.hidden.map(({ path }) => path)];
  const mounts: Mount[] = [
    ...view.scratch.map((path) => ({ path, args: ["--tmpfs", path] })),
    ...view.readable
      .filter(({ path }) => covers.some((cover) => isBelow(path, cover)))
      .map(({ path, source }) => ({ path, args: ["--ro-bind", source, path] })),
    ...view.hidden.map(({ path, kind }) => ({
      path,
      args: kind === "folder" ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path],
    })),
    ...[view.home, view.cwd].map((path) => ({ path, args: ["--bind", path, path] })),
  ];
  // The sort is stable: of two mounts at one place the later kind above wins.
  mounts.sort((a, b) => depth(a.path) - depth(b.path));
  return [
    // PR_SET_PDEATHSIG: kill -9 of the server ends the view, and with its first process everything in it.
    "--die-with-parent",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--new-session",
    // As root bubblewrap keeps capabilities, and with CAP_SYS_ADMIN an agent unmounts what hides the data folder.
    "--cap-drop",
    "ALL",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    ...mounts.flatMap(({ args }) => args),
    // Nothing is to be written beside the agent's own folders.
    ...view.hidden.flatMap(({ path, kind }) => (kind === "folder" ? ["--remount-ro", path] : [])),
    "--chdir",
    view.cwd,
    "--",
  ];
}

function depth(path: string): number {
  return path.split("/").filter((part) => part !== "").length;
}
