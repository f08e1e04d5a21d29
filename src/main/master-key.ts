import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { integration } from "../domain/catalog/kinds/integration.js";
import { secret } from "../domain/catalog/kinds/secret.js";
import { everyDocument } from "../engine/catalog/every-document.js";
import { MASTER_KEY_BYTES } from "../engine/vault.js";
import type { Store } from "../storage/store.js";
import { ConfigError } from "./config.js";
import { writePrivateFile } from "./key-file.js";

/**
 * The key that secrets are encrypted with: in the data folder, or in a file of its own that can lie where backups of
 * the data folder do not reach. Made where nothing needs an earlier one.
 */
export async function masterKeyOf(
  store: Store,
  dataDir: string,
  file = join(dataDir, "master.key"),
): Promise<Uint8Array> {
  if (!existsSync(file)) {
    await refuseIfNeeded(store, file);
    writePrivateFile(file, `${randomBytes(MASTER_KEY_BYTES).toString("base64")}\n`);
  }
  const key = Buffer.from(readFileSync(file, "utf8").trim(), "base64");
  if (key.length !== MASTER_KEY_BYTES) {
    throw new ConfigError(`${file} does not hold a master key: ${MASTER_KEY_BYTES} bytes in base64`);
  }
  return key;
}

/** With another key secrets would stay shut and webhooks would be signed by what nobody checks: better not to start. */
async function refuseIfNeeded(store: Store, file: string): Promise<void> {
  for (const kind of [secret, integration]) {
    await everyDocument(store, kind.name, async ({ tenant, name }) => {
      throw new ConfigError(
        `${file} is missing, and ${kind.name} '${name}' of ${tenant} needs the key that was in it: bring it back from a ` +
          `backup, or put ${MASTER_KEY_BYTES} random bytes in base64 there and write such documents anew`,
      );
    });
  }
}
