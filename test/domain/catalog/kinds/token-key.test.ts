import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code } from "../../../../gen/google/rpc/code_pb.js";
import { Provider } from "../../../../gen/retinue/v1/agent_id_pb.js";
import { ServiceProfileSchema, type Token, TokenSchema } from "../../../../gen/retinue/v1/catalog_pb.js";
import type { Caller } from "../../../../src/domain/caller.js";
import type { KindWrite, Settled } from "../../../../src/domain/catalog/kind.js";
import { settleToken } from "../../../../src/domain/catalog/kinds/token-key.js";
import { type KeyRecord, keyFromRandom, parseKey, secretMatches } from "../../../../src/domain/key.js";
import { ROLES, type Role, type Scope } from "../../../../src/domain/scope.js";
import { createVault } from "../../../../src/engine/vault.js";
import { faultOf, invalidAt } from "../../fault-of.js";

type TokenInit = MessageInitShape<typeof TokenSchema>;

const NOW = 1_700_000_000_000;
const PARTS = keyFromRandom(new Uint8Array(42).fill(7));

function caller(scopes: readonly Scope[], fields: Partial<Caller> = {}): Caller {
  return {
    tenant: "codehost_app/local",
    ownerProvider: Provider.CODEHOST_OAUTH,
    account: "alice",
    keyId: "abc",
    keyName: "",
    role: "",
    scopes: new Set(scopes),
    expiresAtMs: undefined,
    ...fields,
  };
}

const of = (role: Role) => caller(ROLES[role]);
const admin = of("admin");
/** May make keys, but only its own and none that does more than read agents. */
const small = caller(["keys:manage", "agents:read"]);
const profile = caller(ROLES.admin, { ownerProvider: Provider.SERVICE_PROFILE, account: "bot" });

/** There is one profile, bot, and it lists alice. */
const find = (<T>(_: unknown, name: string): T | undefined =>
  name === "bot"
    ? (create(ServiceProfileSchema, { callers: ["codehost_oauth/alice"] }) as T)
    : undefined) as KindWrite<Token>["find"];

/** What tokens have no use for. */
const unused = { beforeSealed: undefined, vault: createVault(new Uint8Array(32)), publicUrl: "", find };

function make(init: TokenInit, by: Caller = admin) {
  return settleToken({
    tenant: "codehost_app/other",
    name: "ci",
    document: create(TokenSchema, init),
    before: undefined,
    beforeKey: undefined,
    caller: by,
    nowMs: NOW,
    newKey: () => PARTS,
    ...unused,
  });
}

function change(made: Settled<ReturnType<typeof make>["document"]>, init: TokenInit, by: Caller = admin) {
  return settleToken({
    tenant: "codehost_app/other",
    name: "ci",
    document: create(TokenSchema, { keyId: made.document.keyId, ...init }),
    before: made.document,
    beforeKey: made.key,
    caller: by,
    nowMs: NOW + 1000,
    newKey: () => assert.fail("an update makes no key"),
    ...unused,
  });
}

test("creating a token makes a key, shows it once and stores only its digest", () => {
  const sent = create(TokenSchema, {
    displayName: "CI",
    role: "viewer",
    expiresAt: timestampFromMs(NOW + 1),
  });
  const { document, key, reveal } = make(sent);
  const parts = parseKey(reveal?.key ?? "");
  assert.deepEqual(parts, PARTS);
  assert.ok(key && parts && secretMatches(parts.secret, key));
  const { secretSha256: _, ...rest } = key;
  assert.deepEqual(rest, {
    keyId: PARTS.keyId,
    tenant: "codehost_app/other",
    token: "ci",
    ownerProvider: Provider.CODEHOST_OAUTH,
    account: "alice",
    displayName: "CI",
    role: "viewer",
    scopes: ["agents:read", "catalog:read", "accounts:all"],
    expiresAtMs: NOW + 1,
    revoked: false,
    lastUsedAtMs: undefined,
  });
  assert.deepEqual(document, { ...sent, keyId: PARTS.keyId, account: "alice" });
  assert.equal(sent.keyId, "", "what was sent is not changed");
  assert.ok(!toJsonString(TokenSchema, document).includes(PARTS.secret));
});

test("scopes of its own are kept, without a role", () => {
  const { key } = make({ scopes: ["agents:read", "audit:read"] });
  assert.equal(key?.role, "");
  assert.deepEqual(key.scopes, ["agents:read", "audit:read"]);
  assert.equal(key.expiresAtMs, undefined);
});

const owners = [
  ["the maker, where none is named", {}, admin, Provider.CODEHOST_OAUTH, "alice", { account: "alice" }],
  ["the maker, named", { account: "alice" }, small, Provider.CODEHOST_OAUTH, "alice", { account: "alice" }],
  [
    "another account of the maker's provider",
    { account: "bob" },
    admin,
    Provider.CODEHOST_OAUTH,
    "bob",
    { account: "bob" },
  ],
  [
    "a service profile",
    { serviceProfile: "bot" },
    admin,
    Provider.SERVICE_PROFILE,
    "bot",
    { serviceProfile: "bot" },
  ],
  ["the profile that makes it", {}, profile, Provider.SERVICE_PROFILE, "bot", { serviceProfile: "bot" }],
  [
    "the profile that makes it, named, without accounts:all",
    { serviceProfile: "bot" },
    { ...small, ownerProvider: Provider.SERVICE_PROFILE, account: "bot" },
    Provider.SERVICE_PROFILE,
    "bot",
    { serviceProfile: "bot" },
  ],
] as const;

for (const [sentence, init, by, provider, account, shown] of owners) {
  test(`a key acts as ${sentence}`, () => {
    const { document, key } = make({ scopes: ["agents:read"], ...init }, by);
    assert.deepEqual([key?.ownerProvider, key?.account], [provider, account]);
    const { account: shownAccount, serviceProfile } = document;
    assert.deepEqual(
      { account: shownAccount, serviceProfile },
      { account: "", serviceProfile: "", ...shown },
    );
  });
}

test("a profile that lists the maker gets a key, also without accounts:all", () => {
  const { key } = make({ serviceProfile: "bot", scopes: ["agents:read"] }, small);
  assert.deepEqual([key?.ownerProvider, key?.account], [Provider.SERVICE_PROFILE, "bot"]);
});

const denied = [
  ["a role that does more than the maker", { role: "viewer" }, small, "lacks catalog:read, accounts:all"],
  ["a scope that the maker lacks", { scopes: ["agents:read", "agents:kill"] }, small, "lacks agents:kill"],
  ["the platform, made by an admin", { role: "platform-operator" }, admin, "lacks platform:operator"],
  [
    "another account without accounts:all",
    { account: "bob", scopes: ["agents:read"] },
    small,
    "accounts:all",
  ],
  [
    "a profile that does not list the maker, whatever else the maker may do",
    { serviceProfile: "bot", scopes: ["agents:read"] },
    caller(ROLES.admin, { account: "bob" }),
    "only the callers that the service profile lists",
  ],
  [
    "a profile of the maker's own name, which is somebody else",
    { serviceProfile: "alice", scopes: ["agents:read"] },
    small,
    "only the callers",
  ],
] as const;

for (const [sentence, init, by, says] of denied) {
  test(`no key for ${sentence}`, () => {
    const fault = faultOf(() => make(init as TokenInit, by));
    assert.equal(fault.code, Code.PERMISSION_DENIED);
    assert.ok(fault.message.includes(says), fault.message);
  });
}

test("every role can be made by whoever has all of it", () => {
  for (const role of Object.keys(ROLES) as Role[]) {
    assert.deepEqual(make({ role }, of("platform-operator")).key?.scopes, ROLES[role]);
  }
});

test("an expiring key may make one that lasts: that is how keys are renewed", () => {
  assert.equal(make({ role: "admin" }, { ...admin, expiresAtMs: NOW + 1 }).key?.expiresAtMs, undefined);
});

const unmakeable = [
  ["expired already", { role: "viewer", expiresAt: timestampFromMs(NOW - 1) }, admin, "payload.expiresAt"],
  ["expired at this moment", { role: "viewer", expiresAt: timestampFromMs(NOW) }, admin, "payload.expiresAt"],
  ["revoked already", { role: "viewer", revoked: true }, admin, "payload.revoked"],
  ["of a bare account, made by a profile", { role: "viewer", account: "bob" }, profile, "payload.account"],
] as const;

for (const [sentence, init, by, field] of unmakeable) {
  test(`no key that is ${sentence}`, () => {
    invalidAt(field, () => make(init, by));
  });
}

test("an update changes what the key may do, and keeps the key", () => {
  const made = make({ displayName: "CI", role: "viewer" });
  const expiresAt = timestampFromMs(NOW + 5000);
  const { document, key, reveal } = change(made, { displayName: "CI 2", role: "member", expiresAt });
  assert.equal(reveal, undefined);
  assert.deepEqual(key, {
    ...made.key,
    displayName: "CI 2",
    role: "member",
    scopes: ROLES.member,
    expiresAtMs: NOW + 5000,
  });
  assert.deepEqual(document, { ...made.document, displayName: "CI 2", role: "member", expiresAt });
});

test("a file that leaves the owner out can be sent again", () => {
  const made = make({ role: "viewer", serviceProfile: "bot" });
  assert.deepEqual(change(made, { role: "viewer", keyId: "" }).document, made.document);
});

const fixed = [
  ["the account", { account: "alice" }, { account: "bob" }, "payload.account", '"alice"'],
  ["an account for a profile", { account: "alice" }, { serviceProfile: "bot" }, "payload.account", '"alice"'],
  ["a profile for an account", { serviceProfile: "bot" }, { account: "alice" }, "payload.account", "unset"],
  ["the profile", { serviceProfile: "bot" }, { serviceProfile: "bat" }, "payload.serviceProfile", '"bot"'],
  ["the key", {}, { keyId: "other" }, "payload.keyId", PARTS.keyId],
] as const;

for (const [sentence, init, next, field, says] of fixed) {
  test(`an update cannot change ${sentence}`, () => {
    const made = make({ role: "viewer", ...init });
    const text = invalidAt(field, () => change(made, { role: "viewer", ...next }));
    assert.ok(text.includes("cannot change") && text.includes(says), text);
  });
}

test("a revoked key stays revoked, and can still be renamed", () => {
  const made = change(make({ role: "viewer" }), { role: "viewer", revoked: true });
  assert.equal(made.key?.revoked, true);
  const fault = faultOf(() => change(made, { role: "viewer", displayName: "x" }));
  assert.equal(fault.code, Code.FAILED_PRECONDITION);
  assert.equal(fault.reason, "TOKEN_REVOKED");
  assert.equal(fault.details.preconditions?.[0]?.subject, "token/ci");
  const renamed = change(made, { role: "viewer", displayName: "x", revoked: true });
  assert.deepEqual([renamed.key?.displayName, renamed.key?.revoked], ["x", true]);
});

// What a caller with keys:manage and little else may do to an admin's key of its own account.
const stronger = [
  ["revoke it", { role: "admin", revoked: true }, true],
  ["leave it as it is", { role: "admin" }, true],
  ["rename it", { role: "admin", displayName: "mine" }, false],
  ["cut it down", { scopes: ["agents:read"] }, false],
  ["extend it", { role: "admin", expiresAt: timestampFromMs(NOW * 2) }, false],
  ["revoke and rename it", { role: "admin", revoked: true, displayName: "mine" }, false],
] as const;

for (const [sentence, next, allowed] of stronger) {
  test(`whoever has less than a key grants may ${allowed ? "" : "not "}${sentence}`, () => {
    const made = make({ role: "admin" });
    if (allowed) change(made, next as TokenInit, small);
    else assert.equal(faultOf(() => change(made, next as TokenInit, small)).code, Code.PERMISSION_DENIED);
  });
}

test("an update cannot grant more than the caller has", () => {
  const made = make({ scopes: ["agents:read"] });
  const fault = faultOf(() => change(made, { scopes: ["agents:read", "agents:kill"] }, small));
  assert.equal(fault.code, Code.PERMISSION_DENIED);
  assert.match(fault.message, /agents:kill/);
  assert.equal(fault.details.metadata?.scope, "agents:kill");
});

test("a key of another account is edited only with accounts:all, and revoked without", () => {
  const made = make({ scopes: ["agents:read"], account: "bob" });
  const edit = { scopes: ["agents:read"], displayName: "x" };
  assert.equal(faultOf(() => change(made, edit, small)).code, Code.PERMISSION_DENIED);
  assert.equal(change(made, { scopes: ["agents:read"], revoked: true }, small).key?.revoked, true);
  assert.equal(change(made, edit).key?.displayName, "x");
});

test("what the key grants counts, not what its role means today", () => {
  const made = make({ role: "viewer" });
  const old = { ...made, key: { ...(made.key as KeyRecord), scopes: ["agents:read"] } };
  const fault = faultOf(() => change(old, { role: "viewer", displayName: "x" }, small));
  assert.match(fault.message, /catalog:read, accounts:all/);
  const revoked = change(old, { role: "viewer", revoked: true }, small);
  assert.deepEqual(revoked.key, { ...old.key, revoked: true });
});

test("an expiry may be moved into the past: it ends the key", () => {
  const made = make({ role: "viewer" });
  const { key } = change(made, { role: "viewer", expiresAt: timestampFromMs(1) });
  assert.equal(key?.expiresAtMs, 1);
});

test("a token whose key is gone is a bug, not the caller's fault", () => {
  const made = make({ role: "viewer" });
  assert.throws(
    () => change({ document: made.document }, { role: "viewer" }),
    /^Error: token ci has no key$/,
  );
});
