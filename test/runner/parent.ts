// Run by tests as a process of its own, which they kill: starts a session that leaves processes behind, says so, and waits.
import { openBench, tell } from "./fixture.js";

const [data, isolation, token] = process.argv.slice(2) as [string, "auto" | "none", string];
const bench = await openBench({ isolation, data });
const session = await bench.runner.start(bench.spec({ processToken: token }));
const told = tell(session, "@run setsid sleep 1000 & sleep 1000");
await told.seen((update) => update.type === "toolCall");
process.stdout.write("ready\n");
setInterval(() => {}, 60_000);
