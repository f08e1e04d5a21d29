import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";

/** A process as /proc shows it. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly startTime: string;
  readonly zombie: boolean;
}

/**
 * Processes read at a time. /proc is memory: reading it through the thread pool costs ten times as much as reading it
 * here, so it is read here, in pieces that hold up nobody.
 */
const BATCH = 32;

/** Every process that we can see; empty where there is no /proc. */
export async function listProcesses(): Promise<ProcessEntry[]> {
  const pids = listPids();
  const entries = await inBatches(pids, readProcess);
  return entries.filter((entry) => entry !== undefined);
}

/** Undefined once it is gone. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  // The name stands in brackets and may itself hold blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields.length < 20) return undefined;
  return {
    pid,
    parent: Number(fields[1]),
    session: Number(fields[3]),
    startTime: fields[19] as string,
    zombie: fields[0] === "Z" || fields[0] === "X",
  };
}

/** From the environment that a process was started with; undefined when it may not be read or is gone. */
export function readVariable(pid: number, name: string): string | undefined {
  const entry = readText(`/proc/${pid}/environ`)
    .split("\0")
    .find((text) => text.startsWith(`${name}=`));
  return entry?.slice(name.length + 1);
}

/** Maps without holding up the loop for longer than a few of the items take. */
export async function inBatches<T, R>(items: readonly T[], act: (item: T) => R): Promise<R[]> {
  const results: R[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % BATCH === 0) await nextTurn();
    results.push(act(item));
  }
  return results;
}

function listPids(): number[] {
  try {
    const names = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
    return names.map(Number);
  } catch {
    return [];
  }
}

/** Empty for what is gone or not ours to read. */
function readText(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
