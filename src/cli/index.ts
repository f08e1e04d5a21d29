import type { Command } from "commander";
import { addFollow } from "./commands/follow.js";
import { addLogs } from "./commands/logs.js";
import { addPs } from "./commands/ps.js";
import { addSend } from "./commands/send.js";
import { addSpawn } from "./commands/spawn.js";
import { addStatus } from "./commands/status.js";
import { addWait } from "./commands/wait.js";
import { addWhoami } from "./commands/whoami.js";

/** The commands that are a client of a server, wherever that is. */
export function addClientCommands(program: Command): void {
  program.commandsGroup("Agents:");
  addSpawn(program);
  addPs(program);
  addStatus(program);
  addFollow(program);
  addWait(program);
  addSend(program);
  addLogs(program);
  program.commandsGroup("Servers:");
  addWhoami(program);
}
