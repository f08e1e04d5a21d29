import { findProcesses } from "../../src/runner/processes/hunt.js";
import { listProcesses, readVariable } from "../../src/runner/processes/process-table.js";

/** Processes of agents whose home lies below this folder, and whatever belongs to them. */
export async function agentProcesses(folder: string): Promise<number[]> {
  const tokens = new Set<string>();
  for (const { pid, zombie } of await listProcesses()) {
    if (zombie) continue;
    const home = await readVariable(pid, "HOME");
    const token = await readVariable(pid, "RETINUE_PROCESS_TOKEN");
    if (token !== undefined && home?.startsWith(folder)) tokens.add(token);
  }
  if (tokens.size === 0) return [];
  const found = await findProcesses({ variable: "RETINUE_PROCESS_TOKEN", values: tokens });
  return found.map(({ pid }) => pid);
}
