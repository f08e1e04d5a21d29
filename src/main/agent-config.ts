import { dirname } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { isName } from "../domain/name.js";
import { wordsOf } from "../runner/profiles/command-line.js";
import type { ProgramsConfig } from "../runner/profiles/programs.js";

/** Flags that name the agent programs, for whoever runs or checks them. */
export function addAgentOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--claude-command <line>",
        "command line of Claude Code's ACP program; default claude-agent-acp",
      )
        .env("RETINUE_CLAUDE_COMMAND")
        .argParser(commandLine),
    )
    .addOption(
      new Option("--codex-command <line>", "command line of Codex; default codex")
        .env("RETINUE_CODEX_COMMAND")
        .argParser(commandLine),
    )
    .addOption(
      new Option("--custom-agent <name=line>", "another program that speaks ACP; may be repeated")
        .env("RETINUE_CUSTOM_AGENT")
        .argParser(customAgent)
        .default({}, "none"),
    )
    .addOption(
      new Option("--agent-env <names>", "variables that every agent program gets of the server's environment")
        .env("RETINUE_AGENT_ENV")
        .argParser(variableNames)
        .default([], "none"),
    );
}

/** What is said about agent programs; a profile picks what it needs of the environment. */
export function agentConfigOf(command: Command, variables: NodeJS.ProcessEnv): ProgramsConfig {
  const { claudeCommand, codexCommand, customAgent: custom, agentEnv } = command.opts();
  const environment = Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const names: readonly string[] = agentEnv;
  return {
    commands: {
      ...custom,
      ...(claudeCommand === undefined ? {} : { claude: claudeCommand }),
      ...(codexCommand === undefined ? {} : { codex: codexCommand }),
    },
    environment,
    forAll: Object.fromEntries(
      names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])),
    ),
    // Programs of npm are started by the Node that runs the server, wherever that was installed.
    path: [environment.PATH, dirname(process.execPath)].filter((part) => part).join(":"),
  };
}

function commandLine(line: string): string[] {
  const words = wordsOf(line);
  if (words.length === 0) throw new InvalidArgumentError("must name a program.");
  return words;
}

/** One to a line where it comes from the environment. */
function customAgent(text: string, before: Readonly<Record<string, string[]>> = {}) {
  const agents = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, name = "", command = ""] = /^\s*([^=\s]+)=(.*)$/.exec(line) ?? [];
      if (!isName(name) || ["claude", "codex"].includes(name)) {
        throw new InvalidArgumentError(
          "must be NAME=COMMAND, the name in lower case and neither claude nor codex.",
        );
      }
      return [name, commandLine(command)] as const;
    });
  return { ...before, ...Object.fromEntries(agents) };
}

function variableNames(text: string, before: readonly string[] = []): string[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== "");
  const wrong = names.find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name.startsWith("RETINUE_"));
  if (wrong !== undefined) {
    throw new InvalidArgumentError(`${wrong}: give names of variables, without values and not RETINUE_….`);
  }
  return [...before, ...names];
}
