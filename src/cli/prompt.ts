import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Cli } from "./cli.js";
import { CliError, EXIT } from "./exit.js";
import { readText } from "./input.js";

/** Asks a person who is there; whoever is not has said what they want by running the command. */
export async function confirm({ terminal }: Cli, question: string): Promise<void> {
  if (!terminal.interactive) return;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(`${question} [y/N] `).finally(() => lines.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError("nothing was done", EXIT.failed);
}

/** A secret: typed unseen by a person, or read from standard input. */
export async function readSecret({ terminal }: Cli, question: string): Promise<string> {
  if (!terminal.interactive) return readText("-").trim();
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  // First this, which turns the terminal's echo off: people type as soon as they are asked.
  const lines = createInterface({ input: process.stdin, output: unseen, terminal: true });
  process.stderr.write(`${question}: `);
  const secret = await lines.question("").finally(() => lines.close());
  process.stderr.write("\n");
  return secret.trim();
}
