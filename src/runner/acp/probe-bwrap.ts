import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { bwrapArguments } from "./bwrap-view.js";
import { type BaseEnvironment, resolveCommand } from "./environment.js";

const run = promisify(execFile);

/** Where the two folders of the view must differ from the machine, seen from within. */
const CHECK = '! cat "$1" 2>/dev/null && echo seen > "$2"';

/**
 * bubblewrap's path when a view made by it really hides and really lets write; else undefined. Run for real, since
 * it may be installed and yet be forbidden: in containers, or where user namespaces are switched off.
 */
export async function probeBwrap(base: BaseEnvironment): Promise<string | undefined> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "retinue-probe-")));
  try {
    const bwrap = await resolveCommand("bwrap", base.PATH);
    const secret = join(folder, "data", "secret");
    const [home, cwd] = [join(folder, "data", "home"), join(folder, "data", "work")];
    await Promise.all([home, cwd].map((path) => mkdir(path, { recursive: true })));
    await writeFile(secret, "secret");
    const hidden = [{ path: join(folder, "data"), kind: "folder" as const }];
    const view = bwrapArguments({ home, cwd, hidden, scratch: ["/tmp"], readable: [] });
    const args = [...view, "/bin/sh", "-c", CHECK, "sh", secret, join(cwd, "seen")];
    await run(bwrap, args, { env: { ...base }, timeout: 10_000, killSignal: "SIGKILL" });
    return (await readFile(join(cwd, "seen"), "utf8")) === "seen\n" ? bwrap : undefined;
  } catch {
    return undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
