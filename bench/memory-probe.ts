// Imported into a server before it starts: at SIGUSR2 it collects garbage and writes what is left to a file.
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

process.on("SIGUSR2", async () => {
  // Pages that a collection has emptied are given back by another thread, and only the next one sees all finalizers run.
  for (let i = 0; i < 3; i++) {
    collect();
    await sleep(300);
  }
  writeFileSync(process.env.BENCH_MEMORY_FILE as string, JSON.stringify(process.memoryUsage()));
});
