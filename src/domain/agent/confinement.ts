import { failedPrecondition } from "../fault.js";

/** What keeps an agent's processes apart from the machine. */
export interface Confinement {
  readonly sandbox: "none" | "bwrap";
  readonly network: "full" | "model-only";
  /** Of all its processes together; 0: no limit of its own. */
  readonly memoryMib: number;
  readonly maxProcesses: number;
}

/** As the status shows it: `bwrap`, or `bwrap, network model-only, 512 MiB, 64 processes`. */
export function confinementText({ sandbox, network, memoryMib, maxProcesses }: Confinement): string {
  return [
    sandbox,
    network === "full" ? "" : `network ${network}`,
    memoryMib === 0 ? "" : `${memoryMib} MiB`,
    maxProcesses === 0 ? "" : `${maxProcesses} processes`,
  ]
    .filter(Boolean)
    .join(", ");
}

/** A child that could do what its parent may not would be its parent's way out. */
export function requireNotWeaker(child: Confinement, parent: Confinement): void {
  const wider = (mine: number, theirs: number) => theirs !== 0 && (mine === 0 || mine > theirs);
  const weaker = [
    child.sandbox === "none" && parent.sandbox !== "none" ? "sandbox" : "",
    child.network === "full" && parent.network !== "full" ? "network" : "",
    wider(child.memoryMib, parent.memoryMib) ? "memoryMib" : "",
    wider(child.maxProcesses, parent.maxProcesses) ? "maxProcesses" : "",
  ].filter(Boolean);
  if (weaker.length === 0) return;
  const text = `its isolation (${confinementText(child)}) is weaker than its parent's (${confinementText(parent)})`;
  throw failedPrecondition("ISOLATION_WEAKER", weaker.join(", "), `${text}: ${weaker.join(", ")}`);
}
