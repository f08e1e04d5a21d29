import type { Statement } from "better-sqlite3";
import type { CommitFailure, WriterReply } from "./batch.js";
import { type Connection, sqliteCode } from "./connection.js";
import { type WriteStatement, writeStatements } from "./statements.js";
import type { EncodedCommit } from "./step.js";

interface Prepared {
  readonly statement: Statement;
  readonly argCount: number;
  readonly mustWriteOneRow: boolean;
}

/**
 * Writes a batch in one transaction, so that it costs one sync. Throws whatever leaves the state of the
 * disk in doubt.
 *
 * Each commit stands or falls alone, for which it needs a savepoint; but savepoints make up a third of
 * the cost of a batch, and nearly every batch succeeds. So the first try does without, and only a batch in
 * which something failed is begun again with them.
 */
export function createBatchWriter(db: Connection): (commits: readonly EncodedCommit[]) => WriterReply {
  // Immediate: a transaction that begins as a read and then writes can fail in a way no time-out covers.
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const rollback = db.prepare("ROLLBACK");
  const savepoint = db.prepare("SAVEPOINT one_commit");
  const release = db.prepare("RELEASE one_commit");
  const rollbackOne = db.prepare("ROLLBACK TO one_commit");
  const statements = prepareAll(db);

  function applyAll(commits: readonly EncodedCommit[]): boolean {
    return commits.every((encoded, index) => applySteps(statements, encoded, index) === undefined);
  }

  function applyEach(commits: readonly EncodedCommit[]): CommitFailure[] {
    return commits.flatMap((encoded, index) => {
      savepoint.run();
      const failure = applySteps(statements, encoded, index);
      if (failure) rollbackOne.run();
      release.run();
      return failure ?? [];
    });
  }

  function write(commits: readonly EncodedCommit[]): CommitFailure[] {
    let failures: CommitFailure[] = [];
    begin.run();
    if (!applyAll(commits)) {
      rollback.run();
      begin.run();
      failures = applyEach(commits);
    }
    commit.run();
    return failures;
  }

  return (commits) => {
    try {
      return { type: "done", failures: write(commits) };
    } catch (error) {
      const code = sqliteCode(error);
      if (code !== "SQLITE_FULL" && code !== "SQLITE_BUSY") throw error;
      // Not in a transaction if SQLite has rolled back on its own, or could not begin one.
      if (db.inTransaction) rollback.run();
      return { type: code === "SQLITE_FULL" ? "full" : "busy" };
    }
  };
}

function applySteps(
  statements: ReadonlyMap<string, Prepared>,
  encoded: EncodedCommit,
  commitIndex: number,
): CommitFailure | undefined {
  let at = 0;
  while (at < encoded.length) {
    const { statement, argCount, mustWriteOneRow } = statements.get(encoded[at] as string) as Prepared;
    const changeIndex = encoded[at + 1] as number;
    const args = encoded.slice(at + 2, at + 2 + argCount);
    at += 2 + argCount;
    let changes: number;
    try {
      changes = statement.run(args).changes;
    } catch (error) {
      if (!isInvalid(error)) throw error;
      return { type: "invalid", commitIndex, message: `change ${changeIndex}: ${error.message}` };
    }
    if (mustWriteOneRow && changes !== 1) return { type: "stale", commitIndex, changeIndex };
  }
  return undefined;
}

/** Errors that concern the values of one statement and leave the transaction whole. */
function isInvalid(error: unknown): error is Error {
  const code = sqliteCode(error);
  if (code === undefined) return error instanceof TypeError || error instanceof RangeError;
  return code.startsWith("SQLITE_CONSTRAINT") || code === "SQLITE_TOOBIG" || code === "SQLITE_MISMATCH";
}

function prepareAll(db: Connection): ReadonlyMap<string, Prepared> {
  return new Map(
    Object.entries<WriteStatement>(writeStatements).map(([name, { sql, mustWriteOneRow }]) => {
      const argCount = sql.split("?").length - 1;
      return [name, { statement: db.prepare(sql), argCount, mustWriteOneRow }];
    }),
  );
}
