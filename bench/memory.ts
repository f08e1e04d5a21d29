import { existsSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
}

/** For a server that is to be asked for its memory; see memory-probe.ts. */
export function memoryProbe(file: string): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${new URL("./memory-probe.js", import.meta.url).href}`,
    BENCH_MEMORY_FILE: file,
  };
}

const WITHIN_MS = 20_000;

/** What a server holds once its garbage is collected. */
export async function memoryOf(pid: number, file: string): Promise<Memory> {
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  const giveUpAt = performance.now() + WITHIN_MS;
  for (;;) {
    if (existsSync(file)) {
      const text = readFileSync(file, "utf8");
      if (text.endsWith("}")) return JSON.parse(text) as Memory;
    }
    if (performance.now() > giveUpAt) throw new Error(`process ${pid} does not tell its memory`);
    await sleep(20);
  }
}
