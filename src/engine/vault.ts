import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { failedPrecondition } from "../domain/fault.js";
import type { Vault } from "../domain/vault.js";

export const MASTER_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM; every use has a key of its own, derived from the master key, so that none says anything of another. */
export function createVault(masterKey: Uint8Array): Vault {
  if (masterKey.length !== MASTER_KEY_BYTES) {
    throw new Error(`a master key has ${MASTER_KEY_BYTES} bytes, this one has ${masterKey.length}`);
  }
  const derive = (purpose: string, nonce: string) =>
    new Uint8Array(hkdfSync("sha256", masterKey, nonce, `retinue ${purpose}`, 32));
  const sealing = derive("sealing", "");

  return {
    derive,

    seal(place, text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", sealing, nonce).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
    },

    open(place, sealed) {
      const bytes = Buffer.from(sealed);
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      try {
        const decipher = createDecipheriv("aes-256-gcm", sealing, nonce).setAAD(Buffer.from(place));
        decipher.setAuthTag(tag);
        const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString();
      } catch {
        throw failedPrecondition(
          "MASTER_KEY_WRONG",
          "master.key",
          "the value was sealed with another master key than the server has now: write it again",
        );
      }
    },
  };
}
