import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isInstalled, run } from "./process.js";

/** Shared objects for LD_PRELOAD, compiled when they are needed: where they run is where they are made. */
export interface Preloads {
  /** Makes every fsync of a process slower. */
  readonly slowSync: string;
  /** Makes h2load send another body each time. */
  readonly varyBody: string;
}

const COMPILE_WITHIN_MS = 30_000;

/** Undefined where there is no C compiler. */
export async function compilePreloads(tempDir: string): Promise<Preloads | undefined> {
  if (!isInstalled("cc")) return undefined;
  const [slowSync, varyBody] = await Promise.all([
    compile("slow-sync", tempDir),
    compile("vary-body", tempDir),
  ]);
  return { slowSync, varyBody };
}

async function compile(name: string, tempDir: string): Promise<string> {
  // tsc leaves C where it is: two folders up from the compiled file, then into the sources.
  const source = fileURLToPath(new URL(`../../bench/${name}.c`, import.meta.url));
  const object = join(tempDir, `${name}.so`);
  await run("cc", ["-O2", "-Wall", "-shared", "-fPIC", "-o", object, source, "-ldl"], COMPILE_WITHIN_MS);
  return object;
}
