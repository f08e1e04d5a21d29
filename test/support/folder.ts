import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanUp } from "./cleanup.js";

/** A folder that is gone when the test file is done. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "retinue-test-"));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
