import { readFileSync } from "node:fs";
import { usageError } from "./exit.js";

/** What a person wrote: words of the command line, `-` for standard input, or a file. */
export function textOf(words: readonly string[], file: string | undefined): string {
  if (file !== undefined) {
    if (words.length > 0) throw usageError("give the text in words or by --file, not both");
    return readText(file);
  }
  return words.length === 1 && words[0] === "-" ? readText("-") : words.join(" ");
}

/** A file, or standard input for `-`. */
export function readText(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw usageError(`cannot read ${file === "-" ? "standard input" : file}: ${(error as Error).message}`);
  }
}

/** For options that may be given several times. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** `name=value`; without a `=` the name is empty. */
export function splitPair(text: string): [string, string] {
  const at = text.indexOf("=");
  return at === -1 ? ["", text] : [text.slice(0, at), text.slice(at + 1)];
}

export function wholeNumber(text: string, option: string): number {
  if (!/^\d{1,15}$/.test(text)) throw usageError(`${option} ${text}: must be a whole number`);
  return Number(text);
}
