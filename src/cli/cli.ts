import type { DescMessage, JsonValue, MessageShape } from "@bufbuild/protobuf";
import { type Command, Option } from "commander";
import { type Environment, readEnvironment } from "./environment.js";
import { explain } from "./explain.js";
import { FORMATS, type Format, jsonOf, show } from "./output.js";
import { openServer, type Server } from "./server.js";
import { resolveTarget, type Target } from "./target.js";
import { openTerminal, type Terminal } from "./terminal.js";

/** What a command works with: one invocation of the program. */
export interface Cli {
  readonly environment: Environment;
  readonly terminal: Terminal;
  readonly format: Format;
  /** The server it talks to; found out, and said where nobody chose it, when it is first asked for. */
  server(): Server;
  /** Prints a message in the format that was asked for. */
  show<S extends DescMessage>(schema: S, message: MessageShape<S>, lines: () => string[]): void;
  showJson(value: () => JsonValue, lines: () => string[]): void;
  /** What the program exits with, unless it fails. */
  exit(code: number): void;
}

export interface CommonOptions {
  readonly context?: string;
  readonly output?: Format;
}

/** Options of every command that talks to a server. */
export function addCommonOptions(command: Command): Command {
  return command
    .addOption(new Option("--context <name>", "server to talk to, by the name it was logged in under"))
    .addOption(
      new Option("-o, --output <format>", "how to write the result").choices(FORMATS).default("table"),
    );
}

type Action<O, A extends unknown[]> = (cli: Cli, options: O, ...args: A) => Promise<void> | void;

/** Gives a command its work: a failure is told with what to do next, and becomes the exit code. */
export function act<O extends CommonOptions, A extends unknown[] = []>(
  command: Command,
  action: Action<O, A>,
): Command {
  return command.action(async (...all: unknown[]) => {
    // Commander hands over the arguments, then the options, then the command itself.
    const args = all.slice(0, -2) as A;
    const options = all.at(-2) as O;
    const { cli, target } = openCli(options);
    try {
      await action(cli, options, ...args);
    } catch (error) {
      const { message, hint, exitCode } = explain(error, target()?.url);
      cli.terminal.note(`${cli.terminal.paintNote("red", "retinue:")} ${message}`);
      if (hint !== "") cli.terminal.note(`  → ${hint}`);
      process.exitCode = exitCode;
    }
  });
}

function openCli(options: CommonOptions): { cli: Cli; target: () => Target | undefined } {
  const environment = readEnvironment();
  const terminal = openTerminal(environment.noColor);
  const format = options.output ?? "table";
  let target: Target | undefined;
  let server: Server | undefined;
  const cli: Cli = {
    environment,
    terminal,
    format,
    server() {
      if (server !== undefined) return server;
      target = resolveTarget(environment, options.context);
      if (target.notice !== undefined) terminal.note(terminal.paintNote("dim", target.notice));
      server = openServer(target);
      return server;
    },
    show: (schema, message, lines) => show(terminal, format, () => jsonOf(schema, message), lines),
    showJson: (value, lines) => show(terminal, format, value, lines),
    exit(code) {
      process.exitCode = code;
    },
  };
  return { cli, target: () => target };
}
