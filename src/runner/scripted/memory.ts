import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What a session remembers from one process to the next. */
export interface Memory {
  readonly sessionId: string;
  /** Prompts so far. */
  prompts: number;
  /** Dollars so far; cumulative, as ACP wants it. */
  cost: number;
  /** Tokens so far. */
  tokens: number;
  settings: Record<string, string>;
  /** The run of the last prompt that carried a caller's words. */
  script: ScriptState | undefined;
}

export interface ScriptState {
  readonly run: number;
  readonly text: string;
  /** The directive to go on with: written before it begins, so that what kills it is not repeated for ever. */
  position: number;
  finished: boolean;
  /** `@ignore` was met. */
  ignores: boolean;
  /** Tokens of the run that no answer has told yet. */
  usage: { input: number; output: number; cached: number };
}

export interface MemoryStore {
  /** Undefined for a session that never was. */
  load(sessionId: string): Promise<Memory | undefined>;
  save(memory: Memory): Promise<void>;
}

/** One file per session. Replaced whole and not synced: it has to survive its process, not the machine. */
export function createMemoryStore(home: string): MemoryStore {
  const folder = join(home, ".retinue-script");
  const file = (sessionId: string) => join(folder, `${sessionId}.json`);
  return {
    async load(sessionId) {
      // The id comes from outside and names a file.
      if (!/^[0-9a-f-]{36}$/.test(sessionId)) return undefined;
      const text = await readFile(file(sessionId), "utf8").catch(() => undefined);
      return text === undefined ? undefined : (JSON.parse(text) as Memory);
    },
    async save(memory) {
      await mkdir(folder, { recursive: true });
      await writeFile(`${file(memory.sessionId)}.new`, JSON.stringify(memory));
      await rename(`${file(memory.sessionId)}.new`, file(memory.sessionId));
    },
  };
}

export function newMemory(sessionId: string): Memory {
  return { sessionId, prompts: 0, cost: 0, tokens: 0, settings: {}, script: undefined };
}
