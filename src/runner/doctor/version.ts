import { execFile } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { resolveCommand } from "../acp/environment.js";

const run = promisify(execFile);
const ANSWER_WITHIN_MS = 20_000;

/** What a program says when it is asked for its version, or what its package says; empty: neither tells. */
export async function versionOf(
  words: readonly string[],
  versionArgs: readonly string[],
  path: string,
): Promise<string> {
  for (const word of words) {
    const file = isAbsolute(word) ? word : await resolveCommand(word, path).catch(() => "");
    const version = packageVersion(file);
    if (version !== "") return version;
  }
  const [command = "", ...args] = words;
  try {
    const file = await resolveCommand(command, path);
    const options = { env: { PATH: path }, timeout: ANSWER_WITHIN_MS, killSignal: "SIGKILL" } as const;
    const { stdout } = await run(file, [...args, ...versionArgs], options);
    return /\d+(?:\.\d+)+\S*/.exec(stdout)?.[0] ?? "";
  } catch {
    return "";
  }
}

/** Programs of npm need not be started to be known. */
function packageVersion(file: string): string {
  if (file === "" || !existsSync(file)) return "";
  const real = realpathSync(file);
  if (!real.includes("/node_modules/")) return "";
  for (let folder = dirname(real); !folder.endsWith("/node_modules"); folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (!existsSync(manifest)) continue;
    const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version?: unknown };
    if (typeof version === "string") return version;
  }
  return "";
}
