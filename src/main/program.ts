import { Command, Option } from "commander";
import { addClientCommands } from "../cli/index.js";
import { addAgentOptions } from "./agent-config.js";
import { addServeOptions, agentConfigFor, configOf, dataOption } from "./config.js";
import { VERSION } from "./version.js";

/** The whole command line, not yet run. */
export function createProgram(): Command {
  const program = new Command("retinue")
    .description("Runs long-lived agents: start, follow, message, interrupt and kill them.")
    .version(VERSION)
    .showHelpAfterError("(--help says more)")
    .exitOverride();

  addClientCommands(program);

  program.commandsGroup("On the server's machine:");
  addServeOptions(program.command("serve"))
    .description("run the service in the foreground")
    .action(async (_options, command: Command) => {
      const config = configOf(command);
      // Loaded when it is wanted: the other commands need none of the server.
      const { serve } = await import("./serve.js");
      await serve(config);
    });

  addAgentOptions(program.command("doctor"))
    .description("say which agent programs are installed, what is missing and how to install it")
    .addOption(new Option("-o, --output <format>", "text or json").choices(["text", "json"]).default("text"))
    .action(async ({ output }: { output: "text" | "json" }, command: Command) => {
      const { doctor } = await import("./doctor.js");
      await doctor(agentConfigFor(command), output);
    });

  program
    .command("backup")
    .description("copy a data folder, also while a server is using it")
    .argument("<to>", "folder to create; it can be given to serve --data as it is")
    .addOption(dataOption())
    .action(async (to: string, options: { data: string }) => {
      const { backupDataFolder } = await import("../storage/sqlite/backup.js");
      await backupDataFolder(options.data, to);
      console.log(`backed up ${options.data} to ${to}`);
    });
  return program;
}
