import { StaleCommit, StoreBusy, StoreFull } from "../store.js";
import type { CommitFailure, WriterReply } from "./batch.js";

/** The caller of a commit. */
export interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Tells the callers of a batch what became of it, in the order of their commits. */
export function settle(waiters: readonly Waiter[], reply: WriterReply): void {
  if (reply.type !== "done") {
    const error =
      reply.type === "full"
        ? new StoreFull("the disk is full")
        : new StoreBusy("another process holds the write lock of the store");
    for (const waiter of waiters) waiter.reject(error);
    return;
  }
  // The failures come in the same order, so one step through both lists is enough.
  let next = 0;
  waiters.forEach((waiter, index) => {
    const failure = reply.failures[next];
    if (failure?.commitIndex !== index) {
      waiter.resolve();
      return;
    }
    waiter.reject(commitError(failure));
    next++;
  });
}

function commitError(failure: CommitFailure): Error {
  return failure.type === "stale" ? new StaleCommit(failure.changeIndex) : new Error(failure.message);
}
