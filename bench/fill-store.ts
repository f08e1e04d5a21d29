import { join } from "node:path";
import Database from "better-sqlite3";

/** Events of each agent. */
const EVENTS = 10;

/**
 * Copies the one finished agent of a store so many times, each with a log of its own. Through the front door this
 * would take an hour; what is written is what the server wrote for the one.
 */
export function fillStore(dataDir: string, count: number): void {
  const db = new Database(join(dataDir, "retinue.db"));
  db.pragma("synchronous = OFF");
  const { uid, path } = db.prepare("SELECT uid, path FROM agent").get() as { uid: string; path: string };
  const columnsOf = (table: string) =>
    (db.prepare(`SELECT name FROM pragma_table_info('${table}')`).all() as { name: string }[]).map(
      ({ name }) => name,
    );
  /** A row again, for another agent. */
  const copy = (table: string, replaced: Readonly<Record<string, string>>) => {
    const columns = columnsOf(table);
    const values = columns.map((column) => replaced[column] ?? column);
    return `INSERT INTO ${table} (${columns.join()}) SELECT ${values.join()} FROM ${table} WHERE uid = @uid`;
  };
  const agent = db.prepare(
    copy("agent", {
      uid: "@newUid",
      path: "@newPath",
      last_seq: String(EVENTS),
      state: `replace(replace(state, @uid, @newUid), '"${path}"', '"' || @newPath || '"')`,
    }),
  );
  const texts = db.prepare(copy("agent_texts", { uid: "@newUid" }));
  const events = db.prepare(
    `${copy("event", { uid: "@newUid", event_id: "event_id || @newUid", seq: "@seq" })} AND seq = @from`,
  );
  const newest = (db.prepare("SELECT max(seq) AS seq FROM event WHERE uid = ?").get(uid) as { seq: number })
    .seq;
  db.transaction(() => {
    for (let i = 0; i < count; i++) {
      const other = { uid, newUid: `${uid}-${i}`, newPath: `finished-${i}` };
      agent.run(other);
      texts.run(other);
      for (let seq = 1; seq <= EVENTS; seq++)
        events.run({ uid, newUid: other.newUid, seq, from: 1 + (seq % newest) });
    }
  })();
  db.close();
}
