import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { JsonValue } from "@bufbuild/protobuf";

/** Without a value: is the schema itself all right? */
export interface ThreadRequest {
  readonly schema: string;
  readonly value?: JsonValue;
}

export interface ThreadReply {
  readonly violation: string | undefined;
}

/** A thread that answers one question at a time; it is started when it is first needed, and again after a runaway. */
export interface Thread {
  ask(request: ThreadRequest): Promise<string | undefined>;
  close(): Promise<void>;
}

const MEMORY_MB = 64;

export function createThread(limitMs: number): Thread {
  let started: Promise<Worker> | undefined;

  async function start(): Promise<Worker> {
    const worker = new Worker(new URL("./worker.js", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    // Loading is not the schema's fault: time counts from here.
    await once(worker, "message");
    worker.unref();
    return worker;
  }

  async function end(): Promise<void> {
    const ended = started;
    started = undefined;
    await (await ended?.catch(() => undefined))?.terminate();
  }

  return {
    close: end,
    async ask(request) {
      started ??= start();
      const worker = await started.catch((error: unknown) => {
        started = undefined;
        throw error;
      });
      const limit = AbortSignal.timeout(limitMs);
      try {
        const reply = once(worker, "message", { signal: limit });
        // Only a question under way keeps the process.
        worker.ref();
        worker.postMessage(request);
        const [{ violation }] = (await reply) as [ThreadReply];
        worker.unref();
        return violation;
      } catch (error) {
        await end();
        if (limit.aborted)
          return `takes longer than ${limitMs / 1000} s: a pattern that backtracks without end?`;
        if ((error as { code?: string }).code === "ERR_WORKER_OUT_OF_MEMORY")
          return `needs more than ${MEMORY_MB} MiB of memory`;
        throw error;
      }
    },
  };
}
