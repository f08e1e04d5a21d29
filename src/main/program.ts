import { Command } from "commander";
import { addClientCommands } from "../cli/index.js";
import { addServeOptions, configOf, dataOption } from "./config.js";
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
