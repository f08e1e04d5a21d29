import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentProgram } from "../runner.js";

const MAIN = fileURLToPath(new URL("./main.js", import.meta.url));

/** How the embedded agent is started: with the Node that runs the server. */
export function scriptedProgram(): AgentProgram {
  return {
    protocol: "acp",
    takes: { instructions: false, outputSchema: false },
    command: process.execPath,
    args: [MAIN],
    env: {},
    readable: [dirname(dirname(MAIN)), ...packageFiles()],
  };
}

/** What it loads beside its own folder: it may have been unpacked below /tmp, or below a data folder. */
function packageFiles(): string[] {
  const found: string[] = [];
  for (let folder = dirname(MAIN); folder !== dirname(folder); folder = dirname(folder)) {
    for (const name of ["package.json", "node_modules"]) {
      if (existsSync(join(folder, name))) found.push(join(folder, name));
    }
  }
  return found;
}
