import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MASTER_KEY_BYTES } from "../engine/vault.js";
import { ConfigError } from "./config.js";
import { writePrivateFile } from "./key-file.js";

/**
 * The key that secrets are encrypted with: in the data folder, or in a file of its own that can lie where backups of
 * the data folder do not reach. Made where there is none.
 */
export function masterKeyOf(dataDir: string, file = join(dataDir, "master.key")): Uint8Array {
  if (!existsSync(file)) writePrivateFile(file, `${randomBytes(MASTER_KEY_BYTES).toString("base64")}\n`);
  const key = Buffer.from(readFileSync(file, "utf8").trim(), "base64");
  if (key.length !== MASTER_KEY_BYTES) {
    throw new ConfigError(`${file} does not hold a master key: ${MASTER_KEY_BYTES} bytes in base64`);
  }
  return key;
}
