import type { JsonValue } from "@bufbuild/protobuf";
import { unavailable } from "../domain/fault.js";
import { createThread, type ThreadRequest } from "./thread.js";

/**
 * JSON Schemas of callers, compiled and applied off the main thread: a schema can take as long as its author likes,
 * and a pattern can look for ever. Answers are sentences that begin with the pointer to what is wrong.
 */
export interface Schemas {
  /** What is wrong with the schema itself; undefined: it can be used. */
  check(schema: string): Promise<string | undefined>;
  /** Where the value does not fit; undefined: it does. */
  validate(schema: string, value: JsonValue): Promise<string | undefined>;
  close(): Promise<void>;
}

export interface SchemasOptions {
  /** After that long the thread is ended, and the answer says so. */
  readonly limitMs: number;
}

/** Two, so that one runaway does not hold up everybody else for its whole time. */
const THREADS = 2;
const MAX_WAITING = 64;
/** Wall time, on a machine that may be busy: long enough for any honest schema. */
const DEFAULTS: SchemasOptions = { limitMs: 5000 };

export function createSchemas({ limitMs }: SchemasOptions = DEFAULTS): Schemas {
  const threads = Array.from({ length: THREADS }, () => createThread(limitMs));
  const idle = [...threads];
  const waiting: (() => void)[] = [];

  async function ask(request: ThreadRequest): Promise<string | undefined> {
    if (waiting.length >= MAX_WAITING)
      throw unavailable("SCHEMAS_BUSY", "too many schemas are being compiled: try again");
    if (idle.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    const thread = idle.pop() as (typeof threads)[number];
    try {
      return await thread.ask(request);
    } finally {
      idle.push(thread);
      waiting.shift()?.();
    }
  }

  return {
    check: (schema) => ask({ schema }),
    validate: (schema, value) => ask({ schema, value }),
    async close() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
