import type { Primitive, WriteStatementName } from "./statements.js";

/**
 * A commit as the writer takes it: for each step the name of its statement, the index of the change it
 * belongs to, then its arguments. One flat array of primitives, because cloning objects to another
 * thread costs the main thread more than everything else about a commit.
 */
export type EncodedCommit = Primitive[];

/** Begins a step; its arguments follow. */
export function step(out: EncodedCommit, statement: WriteStatementName, changeIndex: number): EncodedCommit {
  out.push(statement, changeIndex);
  return out;
}
