#!/usr/bin/env node
import { CommanderError } from "commander";
import { createProgram } from "./program.js";

/** What shells and scripts take for "you used it wrongly". */
const USAGE = 2;

try {
  await createProgram().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // It has been told already, or is no error: --help and --version end here, too.
    process.exitCode = error.exitCode === 0 ? 0 : USAGE;
  } else {
    console.error(`retinue: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
