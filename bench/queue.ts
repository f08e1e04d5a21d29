import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { printFindings } from "./findings.js";
import { measureIdle } from "./idle.js";
import type { BenchOptions } from "./main.js";
import type { ServerProcess } from "./process.js";

export async function benchQueue(_options: BenchOptions): Promise<void> {
  const tempDir = mkdtempSync(join(tmpdir(), "retinue-bench-"));
  process.on("exit", () => rmSync(tempDir, { recursive: true, force: true }));
  const started: ServerProcess[] = [];
  try {
    printFindings("Idle calls, each:", await measureIdle(tempDir, 10_000, started));
  } finally {
    await Promise.all(started.map((server) => server.stop()));
  }
}
