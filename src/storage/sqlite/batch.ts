import type { EncodedCommit } from "./step.js";

/** What the main thread tells the writer. One batch is under way at a time. */
export type WriterRequest =
  | { readonly type: "batch"; readonly commits: readonly EncodedCommit[] }
  | { readonly type: "close" };

/**
 * What the writer answers. Anything else that goes wrong, such as a failed sync, is thrown and ends the
 * writer: what is on disk is then unknown, and only a new start can tell.
 */
export type WriterReply =
  /** Open for batches. */
  | { readonly type: "ready" }
  /** Synced, but for the commits that failed alone. */
  | { readonly type: "done"; readonly failures: readonly CommitFailure[] }
  /** Nothing of the batch was written: no space. */
  | { readonly type: "full" }
  /** Nothing of the batch was written: another process holds the write lock. */
  | { readonly type: "busy" };

export type CommitFailure =
  | { readonly type: "stale"; readonly commitIndex: number; readonly changeIndex: number }
  /** The schema does not take the values: a bug of the caller. */
  | { readonly type: "invalid"; readonly commitIndex: number; readonly message: string };
