import { setTimeout as sleep } from "node:timers/promises";
import { inBatches, listProcesses, type ProcessEntry, readVariable } from "./process-table.js";

/** How processes that belong together are known. */
export interface Quarry {
  /** Variable of the environment that they inherit. */
  readonly variable: string;
  readonly values: ReadonlySet<string>;
  /** Processes known without it, our own children for example. */
  readonly roots?: readonly number[] | undefined;
}

const GIVE_UP_MS = 10_000;

/**
 * Every living process that carries the mark, and whatever belongs to those by parent or session: so one that
 * dropped its environment is found too, for as long as its parent or a process of its session is.
 */
export async function findProcesses(quarry: Quarry): Promise<ProcessEntry[]> {
  const table = await listProcesses();
  const own = table.find((entry) => entry.pid === process.pid)?.session;
  const prey = table.filter((entry) => !entry.zombie && entry.pid !== process.pid && entry.pid !== 1);
  const marks = await inBatches(prey, (entry) => readVariable(entry.pid, quarry.variable));
  const found = new Map<number, ProcessEntry>();
  const sessions = new Set<number>();
  const add = (entry: ProcessEntry) => {
    found.set(entry.pid, entry);
    // Agents are started in a session of their own, so all of a session is theirs; ours is not, nor the kernel's.
    if (entry.session !== own && entry.session !== 0) sessions.add(entry.session);
  };
  for (const [index, entry] of prey.entries()) {
    const mark = marks[index];
    if (quarry.roots?.includes(entry.pid) || (mark !== undefined && quarry.values.has(mark))) add(entry);
  }
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const entry of prey) {
      if (!found.has(entry.pid) && (found.has(entry.parent) || sessions.has(entry.session))) add(entry);
    }
  }
  return [...found.values()];
}

/**
 * Kills until none is left: what forks while it is hunted leaves children that carry the mark. Resolves with how many
 * were killed; rejects with those that are still there after 10 s.
 */
export async function endProcesses(quarry: Quarry): Promise<number> {
  const killed = new Set<number>();
  const start = performance.now();
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    const found = await findProcesses(quarry);
    if (found.length === 0) return killed.size;
    if (performance.now() - start > GIVE_UP_MS) throw new SurvivorsError(found.map((entry) => entry.pid));
    for (const { pid } of found) {
      signal(pid, "SIGKILL");
      killed.add(pid);
    }
    await sleep(pauseMs);
  }
}

/** Processes that SIGKILL did not end in time: stuck in the kernel. */
export class SurvivorsError extends Error {
  override readonly name = "SurvivorsError";

  constructor(readonly pids: readonly number[]) {
    super(`processes that would not die: ${pids.join(", ")}`);
  }
}

/** A negative pid means the group. What is gone already needs no signal. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // ESRCH: it is gone. EPERM: not ours to end, and the hunt will name it.
  }
}
