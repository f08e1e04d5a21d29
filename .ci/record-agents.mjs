// Writes docs/recorded-run.md from a run that takes place now. A test, because what it opens is closed by the runner.
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { recordedRun } from "../dist/test/agents/record.js";

const page = new URL("../docs/recorded-run.md", import.meta.url);

test("the recorded run", async () => writeFileSync(page, await recordedRun()));
