import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { type Change, StoreBusy } from "../store.js";
import type { WriterReply, WriterRequest } from "./batch.js";
import { encodeCommit } from "./changes.js";
import { settle, type Waiter } from "./settle.js";
import type { EncodedCommit } from "./step.js";

export interface GroupCommit {
  commit(changes: readonly Change[]): Promise<void>;
  close(): Promise<void>;
}

export interface GroupCommitOptions {
  /** A writer that is ready. */
  readonly writer: Worker;
  readonly maxPendingCommits: number;
  /** What is on disk is unknown: the process must exit. Called once, every pending commit is rejected. */
  readonly onFatal: (error: Error) => void;
  readonly onFull: () => void;
  /** A batch has been written: there is room. */
  readonly onDone: () => void;
}

/** Starts the writer's thread and waits until it has opened the store. */
export async function startWriter(dataDir: string): Promise<Worker> {
  const writer = new Worker(new URL("./writer.js", import.meta.url), { workerData: { dataDir } });
  await once(writer, "message");
  return writer;
}

/**
 * Hands commits to the writer in batches. There is no timer: while one batch syncs the next one collects,
 * so that batches grow with the load and a lone commit does not wait for company.
 */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { writer, maxPendingCommits, onFatal, onFull, onDone } = options;
  let commits: EncodedCommit[] = [];
  let waiters: Waiter[] = [];
  let inFlight: Waiter[] = [];
  let sendArmed = false;
  let failure: Error | undefined;
  let closed: Promise<void> | undefined;
  let stopping = false;
  let onIdle = (): void => {};

  function post(request: WriterRequest): void {
    writer.postMessage(request);
  }

  function send(): void {
    sendArmed = false;
    if (failure || inFlight.length > 0 || commits.length === 0) return;
    inFlight = waiters;
    post({ type: "batch", commits });
    commits = [];
    waiters = [];
  }

  function receive(reply: WriterReply): void {
    const settled = inFlight;
    inFlight = [];
    // First, so that the writer works on while the callers of this batch go on.
    send();
    settle(settled, reply);
    if (reply.type === "full") onFull();
    if (reply.type === "done") onDone();
    if (inFlight.length === 0 && waiters.length === 0) onIdle();
  }

  function fail(error: Error): void {
    if (failure) return;
    failure = error;
    for (const waiter of [...inFlight, ...waiters]) waiter.reject(error);
    commits = [];
    inFlight = [];
    waiters = [];
    onFatal(error);
    onIdle();
  }

  writer.on("message", receive);
  writer.on("error", (cause) => fail(new Error(`the store's writer failed: ${cause.message}`, { cause })));
  writer.on("exit", (code) => {
    if (!stopping) fail(new Error(`the store's writer ended with code ${code}`));
  });

  async function drainAndStop(): Promise<void> {
    if (inFlight.length > 0 || waiters.length > 0) {
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    }
    if (failure) return;
    stopping = true;
    const exited = new Promise((resolve) => writer.once("exit", resolve));
    post({ type: "close" });
    await exited;
  }

  return {
    commit: (changes) =>
      new Promise((resolve, reject) => {
        if (failure) throw failure;
        if (closed) throw new Error("the store is closed");
        if (inFlight.length + waiters.length >= maxPendingCommits) {
          throw new StoreBusy(`${maxPendingCommits} commits are pending`);
        }
        commits.push(encodeCommit(changes));
        waiters.push({ resolve, reject });
        if (sendArmed || inFlight.length > 0) return;
        // Not at once: what else this turn of the event loop commits comes along.
        sendArmed = true;
        setImmediate(send);
      }),
    close: () => {
      closed ??= drainAndStop();
      return closed;
    },
  };
}
