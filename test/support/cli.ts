import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./folder.js";
import { type Program, type RunOptions, startProgram } from "./process.js";

/** What one run of the command line left behind. */
export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliRunner {
  /** Runs to the end. */
  (...args: string[]): Promise<CliRun>;
  start(...args: string[]): Program;
  readonly env: Readonly<Record<string, string>>;
}

/** The command line of somebody who has this server and key in their environment, and no configuration. */
export function cliOf(
  server: { readonly url: string },
  key: string | undefined,
  options: RunOptions = {},
): CliRunner {
  const env: Record<string, string> = {
    RETINUE_URL: server.url,
    ...(key === undefined ? {} : { RETINUE_KEY: key }),
    XDG_CONFIG_HOME: join(temporaryFolder(), "config"),
    ...options.env,
  };
  const start = (...args: string[]) => startProgram(args, { ...options, env });
  const run = async (...args: string[]): Promise<CliRun> => {
    const program = start(...args);
    const { code } = await program.exited;
    return { code, stdout: program.stdout(), stderr: program.stderr() };
  };
  return Object.assign(run, { start, env });
}

/** The file of a user's contexts. */
export function contextsOf(runner: CliRunner): string {
  return readFileSync(join(runner.env.XDG_CONFIG_HOME as string, "retinue", "contexts.yaml"), "utf8");
}
