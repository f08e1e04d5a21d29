import { hash, timingSafeEqual } from "node:crypto";
import type { ShareAccess } from "../../gen/retinue/v1/access_pb.js";

/** What a key is and may do. The secret itself is never stored, only its digest. */
export interface KeyRecord {
  readonly keyId: string;
  readonly tenant: string;
  /** Name of the document that the key belongs to: a `share-link` where `share` is set, else a `token`. */
  readonly token: string;
  readonly secretSha256: Uint8Array;
  readonly ownerProvider: number;
  readonly account: string;
  readonly displayName: string;
  /** Empty for a key with scopes of its own. */
  readonly role: string;
  readonly scopes: readonly string[];
  readonly expiresAtMs: number | undefined;
  readonly revoked: boolean;
  readonly lastUsedAtMs: number | undefined;
  /** Set for the key of a share link: all that it shows. */
  readonly share?: ShareGrant | undefined;
}

/** One agent, to be looked at. */
export interface ShareGrant {
  readonly uid: string;
  readonly workspace: string;
  readonly path: readonly string[];
  readonly access: ShareAccess;
  readonly includeDescendants: boolean;
}

/** The two halves of `rtn_<keyId>.<secret>`. */
export interface KeyParts {
  readonly keyId: string;
  readonly secret: string;
}

const KEY = /^rtn_([a-z2-7]{16})\.([A-Za-z0-9_-]{43})$/;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

export function parseKey(key: string): KeyParts | undefined {
  const match = KEY.exec(key);
  return match ? { keyId: match[1] as string, secret: match[2] as string } : undefined;
}

export function formatKey(parts: KeyParts): string {
  return `rtn_${parts.keyId}.${parts.secret}`;
}

/** Makes a key out of 42 random bytes: 10 for the id (16 characters of base32), 32 for the secret. */
export function keyFromRandom(random: Uint8Array): KeyParts {
  if (random.length !== 42) throw new Error(`a key takes 42 random bytes, got ${random.length}`);
  let bits = 0n;
  for (const byte of random.subarray(0, 10)) bits = (bits << 8n) | BigInt(byte);
  let keyId = "";
  for (let i = 0; i < 16; i++) keyId += BASE32[Number((bits >> BigInt(75 - 5 * i)) & 31n)];
  return { keyId, secret: Buffer.from(random.subarray(10)).toString("base64url") };
}

/** One plain hash: the secret has 256 random bits, so a slow hash would only help whoever floods us with bad keys. */
export function hashSecret(secret: string): Uint8Array {
  return hash("sha256", secret, "buffer");
}

const NOBODY = hashSecret("");

/** Takes the same time whether the key id is known or not. */
export function secretMatches(secret: string, record: KeyRecord | undefined): boolean {
  const equal = timingSafeEqual(hashSecret(secret), record?.secretSha256 ?? NOBODY);
  return record !== undefined && equal;
}

/** Whether the key may be used at this moment. */
export function isLive(record: KeyRecord, nowMs: number): boolean {
  return !record.revoked && (record.expiresAtMs === undefined || nowMs < record.expiresAtMs);
}
