import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Confinement } from "../../domain/agent/confinement.js";
import type { Launch } from "./sandbox.js";

/** Limits over all processes of an agent together, as far as this machine lets the server set them. */
export interface Cgroups {
  readonly memory: boolean;
  readonly processes: boolean;
  /** The command, started within limits; `release` once all of it is gone. */
  confined(name: string, confinement: Confinement, launch: Launch): Promise<Confined>;
}

export interface Confined {
  readonly launch: Launch;
  release(): Promise<void>;
}

type Controller = "memory" | "pids";

const ROOT = "/sys/fs/cgroup";
const FILES = { memory: ["memory.max", "memory.limit_in_bytes"], pids: ["pids.max", "pids.max"] } as const;
/** Joined before the command is there: what it starts is in the group from its first moment on. */
const JOIN = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; exec "$@"';

/** Found out by trying: mounts and rights differ from machine to machine. */
export async function probeCgroups(): Promise<Cgroups> {
  const folders = { memory: await folderOf("memory"), pids: await folderOf("pids") };
  return {
    memory: folders.memory !== undefined,
    processes: folders.pids !== undefined,
    async confined(name, { memoryMib, maxProcesses }, launch) {
      const wanted: [Controller, number][] = [
        ["memory", memoryMib * 1024 * 1024],
        ["pids", maxProcesses],
      ];
      const made = new Set<string>();
      for (const [controller, value] of wanted) {
        const folder = folders[controller];
        if (value === 0 || folder === undefined) continue;
        const group = join(folder, `retinue-${name}`);
        await mkdir(group, { recursive: true });
        await limit(group, controller, value);
        made.add(group);
      }
      if (made.size === 0) return { launch, release: async () => {} };
      const joined = [...made].map((group) => join(group, "cgroup.procs"));
      const args = ["-c", JOIN, "sh", ...joined, "--", launch.command, ...launch.args];
      return { launch: { command: "/bin/sh", args }, release: () => removeAll(made) };
    },
  };
}

/** The folder in which groups with this controller can be made; undefined: there is none. */
async function folderOf(controller: Controller): Promise<string | undefined> {
  const own = await readFile("/proc/self/cgroup", "utf8").catch(() => "");
  const [, first = ""] = new RegExp(`^\\d+:${controller}:(.*)$`, "m").exec(own) ?? [];
  const [, second = ""] = /^0::(.*)$/m.exec(own) ?? [];
  for (const folder of [join(ROOT, controller, first), join(ROOT, second)]) {
    const group = join(folder, `retinue-probe-${process.pid}`);
    try {
      await mkdir(group);
      // A value that both take.
      await limit(group, controller, 1024 * 1024);
      return folder;
    } catch {
      // Not here.
    } finally {
      await rmdir(group).catch(() => {});
    }
  }
  return undefined;
}

/** The name of the file differs between the two versions of cgroups. */
async function limit(group: string, controller: Controller, value: number): Promise<void> {
  const [second, first] = FILES[controller];
  const flag = { flag: "r+" };
  await writeFile(join(group, second), String(value), flag).catch(() =>
    writeFile(join(group, first), String(value), flag),
  );
}

/** A group goes once its last process has been reaped. */
async function removeAll(groups: Iterable<string>): Promise<void> {
  for (const group of groups) {
    for (let tries = 0; tries < 50; tries++) {
      const gone = await rmdir(group).then(
        () => true,
        (error: NodeJS.ErrnoException) => error.code === "ENOENT",
      );
      if (gone) break;
      await sleep(20);
    }
  }
}
