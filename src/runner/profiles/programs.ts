import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { Backend } from "../../../gen/retinue/v1/settings_pb.js";
import { resolveCommand } from "../acp/environment.js";
import type { ModelChoice, Programs } from "../programs.js";
import { RunnerError } from "../runner-error.js";
import { scriptedProgram } from "../scripted/program.js";
import { claude } from "./claude.js";
import { codex } from "./codex.js";
import { customProfile } from "./custom.js";
import type { AgentProfile } from "./profile.js";

/** What the operator says about agent programs. */
export interface ProgramsConfig {
  /** Command lines by profile: `claude`, `codex`, and the names of custom agents. */
  readonly commands: Readonly<Record<string, readonly string[]>>;
  /** Variables that programs may be given: of those that a profile asks for, and for all of them. */
  readonly environment: Readonly<Record<string, string>>;
  readonly forAll: Readonly<Record<string, string>>;
  readonly path: string;
}

/** A profile with its command line, as configured. */
export interface ConfiguredProfile {
  readonly profile: AgentProfile;
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const SCRIPTS = ["script-a", "script-b"];

export function configuredProfiles(config: ProgramsConfig): ConfiguredProfile[] {
  const builtin = [claude, codex];
  const custom = Object.keys(config.commands).filter((name) => !builtin.some((one) => one.name === name));
  return [...builtin, ...custom.map(customProfile)].map((profile) => ({
    profile,
    words: config.commands[profile.name] ?? profile.command,
    env: { ...pick(config.environment, profile.variables), ...config.forAll },
  }));
}

export function createPrograms(config: ProgramsConfig): Programs {
  const profiles = configuredProfiles(config);

  function profileOf({ backend, program }: ModelChoice): ConfiguredProfile | undefined {
    const name = program || (backend === Backend.A ? claude.name : codex.name);
    return profiles.find(({ profile }) => profile.name === name);
  }

  return {
    find(model) {
      if (SCRIPTS.includes(model.modelId)) return scriptedProgram();
      const found = profileOf(model);
      const [command, ...args] = found?.words ?? [];
      if (found === undefined || command === undefined) return undefined;
      const readable = found.words.flatMap((word) => packageOf(word, config.path));
      const { env, profile } = found;
      const program = profile.program({ command, args, env, readable, model: model.modelId });
      return { ...program, secrets: secretsIn(env) };
    },
    async problem(model) {
      if (SCRIPTS.includes(model.modelId)) return undefined;
      const found = profileOf(model);
      if (found === undefined) {
        return `the agent program ${model.program} is not configured: start the server with --custom-agent ${model.program}=COMMAND`;
      }
      const { profile, words } = found;
      try {
        await resolveCommand(words[0] ?? "", config.path);
        return undefined;
      } catch (error) {
        if (!(error instanceof RunnerError)) throw error;
        return `${profile.title} is not installed: ${error.message}. To install it: ${profile.install}`;
      }
    },
  };
}

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i;
/** Shorter ones would mask words of everyday. */
const SECRET_MIN = 8;

function secretsIn(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    SECRET_NAME.test(name) && value.length >= SECRET_MIN ? [value] : [],
  );
}

/** What a program needs of its own files: they may lie below /tmp or a home, which agents do not see. */
function packageOf(word: string, path: string): string[] {
  const candidates = isAbsolute(word) ? [word] : path.split(":").map((folder) => join(folder, word));
  const file = candidates.find((candidate) => isAbsolute(candidate) && existsSync(candidate));
  if (file === undefined) return [];
  const real = realpathSync(file);
  // The outermost: packages that are shared lie there.
  const end = real.indexOf("/node_modules/");
  return [end === -1 ? ownPackage(real) : real.slice(0, end + "/node_modules".length)];
}

/** The folder with the package.json that a file belongs to, or the file alone; never a whole home. */
function ownPackage(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (folder === homedir()) break;
    if (existsSync(join(folder, "package.json"))) return folder;
  }
  return file;
}

function pick(values: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (values[name] ? [[name, values[name]]] : [])));
}
