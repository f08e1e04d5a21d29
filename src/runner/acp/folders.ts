import { mkdir, realpath } from "node:fs/promises";
import { isAbsolute, join, normalize, relative } from "node:path";
import type { AgentProgram, Surroundings } from "../runner.js";
import { fatal, RunnerError } from "../runner-error.js";

/**
 * Makes the agent's folders and answers with the spec on their real paths. What an agent can write, it can replace by
 * a link, and a link to elsewhere must never be handed to it as its own folder: hence both checks.
 */
export async function prepareFolders<S extends Surroundings & { readonly program: AgentProgram }>(
  spec: S,
  agentsFolder: string,
): Promise<S> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(spec.uid)) throw refused(`"${spec.uid}" is no uid`);
  const root = join(agentsFolder, spec.uid);
  try {
    for (const folder of [spec.home, spec.cwd]) {
      if (!isBelow(normalize(folder), normalize(root))) throw refused(`${folder} does not lie below ${root}`);
      await mkdir(folder, { recursive: true, mode: 0o700 });
    }
    const [realRoot, home, cwd] = await Promise.all([
      realpath(agentsFolder).then((folder) => join(folder, spec.uid)),
      realpath(spec.home),
      realpath(spec.cwd),
    ]);
    for (const folder of [home, cwd]) {
      if (!isBelow(folder, realRoot))
        throw refused(`${folder}, reached by a link, does not lie below ${realRoot}`);
    }
    // Programs refuse to start where their folder is missing; made below the real home, as itself.
    for (const folder of Object.values(spec.program.homeFolders ?? {})) {
      await mkdir(join(home, folder), { recursive: true, mode: 0o700 });
    }
    return { ...spec, home, cwd };
  } catch (error) {
    if (error instanceof RunnerError) throw error;
    throw refused(error instanceof Error ? error.message : String(error));
  }
}

/** Strictly below: both paths absolute and normal. */
export function isBelow(path: string, folder: string): boolean {
  const rest = relative(folder, path);
  return rest !== "" && rest !== ".." && !rest.startsWith("../") && !isAbsolute(rest);
}

function refused(why: string): RunnerError {
  return new RunnerError(fatal("agent_folder", `the agent's folders cannot be used: ${why}`));
}
