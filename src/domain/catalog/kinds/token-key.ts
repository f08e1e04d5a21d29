import { clone, equals } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Provider } from "../../../../gen/retinue/v1/agent_id_pb.js";
import { type Token, TokenSchema } from "../../../../gen/retinue/v1/catalog_pb.js";
import type { Caller } from "../../caller.js";
import { failedPrecondition, invalidField, permissionDenied } from "../../fault.js";
import { formatKey, hashSecret, type KeyRecord } from "../../key.js";
import { quoted } from "../../name.js";
import { isRole, ROLES } from "../../scope.js";
import type { KindWrite, Settled } from "../kind.js";
import { requireCallerOf, serviceProfile } from "./service-profile.js";

/** Makes the key of a new token, or changes what the key of an old one may do. */
export function settleToken(write: KindWrite<Token>): Settled<Token> {
  return write.before === undefined ? createKey(write) : updateKey(write, write.before);
}

function createKey({
  tenant,
  name,
  document: sent,
  caller,
  nowMs,
  newKey,
  find,
}: KindWrite<Token>): Settled<Token> {
  const document = withOwner(sent, caller);
  const grant = grantOf(document);
  if (grant.expiresAtMs !== undefined && grant.expiresAtMs <= nowMs) {
    throw invalidField("payload.expiresAt", "is past: the key would never work");
  }
  if (grant.revoked) throw invalidField("payload.revoked", "a new key cannot be revoked already");
  const owner = ownerOf(document, caller);
  requireOwner(caller, owner, find);
  requireScopes(caller, grant.scopes);
  const parts = newKey();
  document.keyId = parts.keyId;
  const key: KeyRecord = {
    keyId: parts.keyId,
    tenant,
    token: name,
    secretSha256: hashSecret(parts.secret),
    ...owner,
    ...grant,
    lastUsedAtMs: undefined,
  };
  return { document, key, reveal: { key: formatKey(parts) } };
}

function updateKey(
  { name, document: sent, beforeKey, caller, find }: KindWrite<Token>,
  before: Token,
): Settled<Token> {
  if (beforeKey === undefined) throw new Error(`token ${name} has no key`);
  const document = unmoved(sent, before);
  if (before.revoked && !document.revoked) {
    const text = `token ${name} is revoked, which cannot be undone: make another one`;
    throw failedPrecondition("TOKEN_REVOKED", `token/${name}`, text);
  }
  if (onlyRevokes(before, document)) return { document, key: { ...beforeKey, revoked: document.revoked } };
  const grant = grantOf(document);
  requireOwner(caller, beforeKey, find);
  // What it granted before counts too: a stronger key is not the caller's to rename, extend or cut down.
  requireScopes(caller, beforeKey.scopes);
  requireScopes(caller, grant.scopes);
  return { document, key: { ...beforeKey, ...grant } };
}

/** What the document says about its key. A role is written out: an upgrade of the program widens no key. */
function grantOf(document: Token) {
  const { displayName, role, scopes, expiresAt, revoked } = document;
  return {
    displayName,
    role,
    scopes: isRole(role) ? [...ROLES[role]] : [...scopes],
    expiresAtMs: expiresAt && timestampMs(expiresAt),
    revoked,
  };
}

type Owner = Pick<KeyRecord, "ownerProvider" | "account">;

/** The document with its owner written out: the maker, where it names none. */
function withOwner(sent: Token, caller: Caller): Token {
  const document = clone(TokenSchema, sent);
  const byProfile = caller.ownerProvider === Provider.SERVICE_PROFILE;
  if (document.account !== "" && byProfile) {
    // A bare account is one of the maker's provider: it would name another profile, and not say so.
    throw invalidField(
      "payload.account",
      "a key of a service profile makes keys of service profiles: set serviceProfile",
    );
  }
  if (document.account === "" && document.serviceProfile === "") {
    document[byProfile ? "serviceProfile" : "account"] = caller.account;
  }
  return document;
}

function ownerOf(document: Token, caller: Caller): Owner {
  return document.serviceProfile === ""
    ? { ownerProvider: caller.ownerProvider, account: document.account }
    : { ownerProvider: Provider.SERVICE_PROFILE, account: document.serviceProfile };
}

/** The document with its fixed fields as they were. To leave them out is no change: files are sent again. */
function unmoved(sent: Token, before: Token): Token {
  const document = clone(TokenSchema, sent);
  if (document.account === "" && document.serviceProfile === "") {
    document.account = before.account;
    document.serviceProfile = before.serviceProfile;
  }
  if (document.keyId === "") document.keyId = before.keyId;
  for (const field of ["account", "serviceProfile", "keyId"] as const) {
    if (document[field] === before[field]) continue;
    const was = before[field] === "" ? "unset" : quoted(before[field]);
    throw invalidField(`payload.${field}`, `cannot change, it is ${was}: make another token`);
  }
  return document;
}

function onlyRevokes(before: Token, document: Token): boolean {
  const revoked = clone(TokenSchema, before);
  revoked.revoked = document.revoked;
  return equals(TokenSchema, revoked, document);
}

/** A key acts for its owner. The scope accounts:all is not enough for a service profile, which says itself who may. */
function requireOwner(caller: Caller, owner: Owner, find: KindWrite<Token>["find"]): void {
  if (owner.ownerProvider === Provider.SERVICE_PROFILE) {
    requireCallerOf(caller, owner.account, find(serviceProfile, owner.account));
    return;
  }
  const own = owner.ownerProvider === caller.ownerProvider && owner.account === caller.account;
  if (own || caller.scopes.has("accounts:all")) return;
  throw permissionDenied("a token of another account needs the scope accounts:all", {
    scope: "accounts:all",
  });
}

function requireScopes(caller: Caller, scopes: readonly string[]): void {
  const held: ReadonlySet<string> = caller.scopes;
  const missing = scopes.filter((scope) => !held.has(scope));
  if (missing.length === 0) return;
  throw permissionDenied(
    `no key grants more than its maker has: the calling key lacks ${missing.join(", ")}`,
    {
      scope: missing.join(","),
    },
  );
}
