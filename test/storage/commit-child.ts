// Run by tests as a process of its own, which they kill: makes `count` commits one after the other and
// appends to a log what became of each. Before the last one it creates `lastFile`, if given.
import { openSync, writeFileSync, writeSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openSqliteStore } from "../../src/storage/sqlite/open.js";
import { keyOf, put } from "./fixtures.js";

const [dataDir, logFile, count, lastFile] = process.argv.slice(2) as [string, string, string, string?];
const log = openSync(logFile, "a");
const note = (line: string) => writeSync(log, `${line}\n`);

const store = await openSqliteStore({ dataDir, onFatal: (error) => note(`fatal: ${error.message}`) });
note("open");
for (let index = 0; index < Number(count); index++) {
  if (lastFile && index === Number(count) - 1) writeFileSync(lastFile, "");
  await commitOne(`name-${index}`);
}
process.stdout.write("done\n");
setInterval(() => {}, 60_000);

/** Looks for the row all the while, to find out when it becomes readable. */
async function commitOne(name: string): Promise<void> {
  let settled = false;
  let seen = false;
  const outcome = store.commit([put(name, 1)]).then(
    () => note("ack"),
    () => note("rejected"),
  );
  void outcome.finally(() => {
    settled = true;
  });
  while (!settled) {
    if (!seen && (await store.resource(keyOf(name)))) {
      seen = true;
      note("seen");
    }
    await nextTurn();
  }
}
