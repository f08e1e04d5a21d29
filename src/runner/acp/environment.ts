import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { AgentProgram, Surroundings } from "../runner.js";
import { fatal, RunnerError } from "../runner-error.js";

/** Every process of an agent inherits it; `sweep` looks for it. */
export const TOKEN_VARIABLE = "RETINUE_PROCESS_TOKEN";

/** What every agent gets of the server's own environment, handed in by whoever reads that. */
export interface BaseEnvironment {
  readonly PATH: string;
  readonly LANG: string;
}

export const DEFAULT_ENVIRONMENT: BaseEnvironment = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LANG: "C.UTF-8",
};

/** Nothing is inherited: the server's environment holds keys of other people. */
export function agentEnvironment(
  spec: Surroundings,
  { env, homeFolders = {} }: AgentProgram,
  base: BaseEnvironment,
): Record<string, string> {
  const folders = Object.entries(homeFolders).map(([name, folder]) => [name, join(spec.home, folder)]);
  const own = { HOME: spec.home, [TOKEN_VARIABLE]: spec.processToken };
  return { ...base, ...spec.variables, ...env, ...Object.fromEntries(folders), ...own };
}

/** The program's absolute path. Looked up before the start, so that what is missing has a name. */
export async function resolveCommand(command: string, path: string): Promise<string> {
  const candidates = isAbsolute(command)
    ? [command]
    : path.split(":").flatMap((folder) => (isAbsolute(folder) ? [join(folder, command)] : []));
  for (const candidate of candidates) {
    if (await isExecutable(candidate)) return candidate;
  }
  throw new RunnerError(
    fatal(
      "agent_not_installed",
      `the agent program "${command}" was not found${isAbsolute(command) ? "" : ` in ${path}`}: install it, or ` +
        "name it in the configuration with its full path",
    ),
  );
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
