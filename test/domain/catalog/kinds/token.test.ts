import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { TokenSchema } from "../../../../gen/retinue/v1/catalog_pb.js";
import { lastUse, revokeKey, token } from "../../../../src/domain/catalog/kinds/token.js";
import type { KeyRecord } from "../../../../src/domain/key.js";
import { ROLES, SCOPES } from "../../../../src/domain/scope.js";
import { type BadRow, describedRows, type GoodRow, testRows } from "./violation-rows.js";

const viewer = (fields: object) => ({ role: "viewer", ...fields });
const ofDisplayName = (row: GoodRow | BadRow) => !row[0].includes("description");
const described = describedRows(viewer({}));

const good: GoodRow[] = [
  ...described.good.filter(ofDisplayName),
  ...Object.keys(ROLES).map((role): GoodRow => [`takes the role ${role}`, { role }]),
  ["takes every scope", { scopes: [...SCOPES] }],
  ["takes an account", viewer({ account: "alice@example.com" })],
  ["takes a service profile", viewer({ serviceProfile: "nightly" })],
  ["takes a time to expire", viewer({ expiresAt: "2030-01-01T00:00:00.5+02:00" })],
  ["takes the last time there is", viewer({ expiresAt: "9999-12-31T23:59:59Z" })],
];

const bad: BadRow[] = [
  ...described.bad.filter(ofDisplayName),
  ["refuses neither role nor scopes", {}, "role", "set role (viewer, "],
  ["refuses both", viewer({ scopes: ["agents:read"] }), "scopes", "not both"],
  [
    "refuses an unknown role",
    { role: "root" },
    "role",
    '"root" is no role; known: viewer, member, operator, admin, platform-operator, runner',
  ],
  ["refuses the role that only the server gives", { role: "agent" }, "role", "is no role"],
  ["refuses what JavaScript objects have anyway", { role: "constructor" }, "role", "is no role"],
  [
    "refuses an unknown scope",
    { scopes: ["agents:read", "agents:*"] },
    "scopes[1]",
    '"agents:*" is no scope; known: ',
  ],
  ["refuses a scope twice", { scopes: ["audit:read", "audit:read"] }, "scopes[1]", "already at scopes[0]"],
  ["refuses two owners", viewer({ account: "a", serviceProfile: "b" }), "serviceProfile", "not both"],
  ["refuses an account with its provider", viewer({ account: "idp_oidc/a" }), "account", "bare account"],
  ["refuses an account with a space", viewer({ account: "a b" }), "account", "spaces"],
  ["refuses an endless account", viewer({ account: "x".repeat(201) }), "account", "at most 200"],
  ["refuses a profile by no name", viewer({ serviceProfile: "Nightly" }), "serviceProfile", '"N"'],
  ["refuses a time that is none", viewer({ expiresAt: "tomorrow" }), "expiresAt", "RFC 3339"],
];

testRows(token, good, bad);

test("token: refuses a time that JSON cannot hold, wherever it came from", () => {
  for (const expiresAt of [{ seconds: 253_402_300_800n }, { seconds: -62_135_596_801n }, { nanos: -1 }]) {
    const violations = token.validate(create(TokenSchema, { role: "viewer", expiresAt }));
    assert.equal(violations[0]?.field, "expiresAt");
  }
});

const record: KeyRecord = {
  keyId: "k",
  tenant: "codehost_app/local",
  token: "t",
  secretSha256: new Uint8Array(32),
  ownerProvider: 1,
  account: "a",
  displayName: "",
  role: "viewer",
  scopes: ["agents:read"],
  expiresAtMs: undefined,
  revoked: false,
  lastUsedAtMs: undefined,
};

test("token: deleting one ends its key and changes nothing else about it", () => {
  assert.deepEqual(revokeKey(record), { ...record, revoked: true });
  assert.equal(record.revoked, false);
});

test("token: reads show when its key was last used", () => {
  assert.deepEqual(lastUse({ ...record, lastUsedAtMs: 60_000 }), { lastUsedAt: "1970-01-01T00:01:00Z" });
  assert.deepEqual(lastUse(record), {});
  assert.deepEqual(lastUse(undefined), {});
});
