import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { formatKey, type KeyParts, parseKey } from "../domain/key.js";
import { ConfigError } from "./config.js";

export function writeKeyFile(file: string, parts: KeyParts): void {
  writePrivateFile(file, `${formatKey(parts)}\n`);
}

/** Writes a file so that only its owner reads it, and so that a crash leaves the whole of it or nothing. */
export function writePrivateFile(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.new`;
  const fd = openSync(temporary, "w", 0o600);
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, file);
}

/** The key in a file; undefined when there is no file. */
export function readKeyFile(file: string): KeyParts | undefined {
  if (!existsSync(file)) return undefined;
  const parts = parseKey(readFileSync(file, "utf8").trim());
  if (parts === undefined)
    throw new ConfigError(`${file} does not hold a key of the form rtn_<keyId>.<secret>`);
  return parts;
}
