import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { ShareAccess } from "../../../../gen/retinue/v1/access_pb.js";
import { Provider } from "../../../../gen/retinue/v1/agent_id_pb.js";
import { ShareLinkSchema } from "../../../../gen/retinue/v1/catalog_pb.js";
import type { KindWrite } from "../../../../src/domain/catalog/kind.js";
import { shareLink } from "../../../../src/domain/catalog/kinds/share-link.js";
import { parseKey, secretMatches } from "../../../../src/domain/key.js";
import { faultOf, invalidAt } from "../../fault-of.js";
import { callerWith, kindWrite, NOW } from "./kind-write.js";
import { type BadRow, describedRows, type GoodRow, testRows } from "./violation-rows.js";

const base = { agentId: { agent: ["root"] }, access: "SHARE_ACCESS_STATUS" };
const described = describedRows(base);
const ofDisplayName = (row: GoodRow | BadRow) => !row[0].includes("description");

testRows(
  shareLink,
  [
    ...described.good.filter(ofDisplayName),
    ["takes a child and all below it", { ...base, agentId: { agent: ["a", "b"] }, includeDescendants: true }],
    ["takes the timeline", { ...base, access: "SHARE_ACCESS_TIMELINE" }],
  ],
  [
    ...described.bad.filter(ofDisplayName),
    ["refuses no agent", { access: base.access }, "agentId.agent", "required"],
    ["refuses to show nothing", { agentId: base.agentId }, "access", "SHARE_ACCESS_TIMELINE"],
    ["refuses a time that is none", { ...base, expiresAt: "soon" }, "expiresAt", "RFC 3339"],
  ],
);

type Init = MessageInitShape<typeof ShareLinkSchema>;
type Write = KindWrite<ReturnType<typeof document>>;
const document = (init: Init) => create(ShareLinkSchema, init);
const DAY = 24 * 60 * 60 * 1000;
const agentId = {
  ownerProvider: Provider.IDP_OIDC,
  account: "bob",
  agent: ["root"],
  workspace: "default",
  uid: "u1",
};
const link: Init = { agentId, access: ShareAccess.STATUS };
const caller = callerWith(["agents:message"]);

function settle(init: Init, more: Partial<Write> = {}) {
  const settled = shareLink.settle?.(kindWrite(document(init), caller, more));
  assert.ok(settled?.key);
  return { ...settled, key: settled.key };
}

test("share-link: its key shows one agent, and stands in the fragment of the url", () => {
  const { document, key, reveal } = settle({ ...link, includeDescendants: true });
  const [page, secret] = (reveal?.url ?? "").split("#");
  assert.equal(page, "https://retinue.example.com/ui/share");
  const parts = parseKey(secret ?? "");
  assert.ok(parts && secretMatches(parts.secret, key));
  assert.equal(document.keyId, parts.keyId);
  assert.deepEqual(key.scopes, ["agents:read"]);
  assert.deepEqual([key.ownerProvider, key.account], [Provider.IDP_OIDC, "bob"]);
  assert.deepEqual(key.share, {
    uid: "u1",
    workspace: "default",
    path: ["root"],
    access: ShareAccess.STATUS,
    includeDescendants: true,
  });
  assert.equal(document.url, "");
});

test("share-link: ends after 30 days where it does not say when", () => {
  const { document, key } = settle(link);
  assert.equal(key.expiresAtMs, NOW + 30 * DAY);
  assert.equal(document.expiresAt && timestampMs(document.expiresAt), NOW + 30 * DAY);
});

const expiring = (ms: number): Init => ({ ...link, expiresAt: timestampFromMs(ms) });

test("share-link: cannot have ended, be revoked at first, or last longer than a year", () => {
  assert.match(
    invalidAt("payload.expiresAt", () => settle(expiring(NOW))),
    /past/,
  );
  assert.match(
    invalidAt("payload.expiresAt", () => settle(expiring(NOW + 367 * DAY))),
    /year/,
  );
  assert.match(
    invalidAt("payload.revoked", () => settle({ ...link, revoked: true })),
    /new link/,
  );
});

const made = settle(expiring(NOW + DAY));
const before = { before: made.document, beforeKey: made.key };
const kept: Init = { ...expiring(NOW + DAY), keyId: made.document.keyId };

test("share-link: can show more, later, under the same key", () => {
  const after = settle({ ...kept, access: ShareAccess.TIMELINE }, { ...before, nowMs: NOW + 2 * DAY });
  assert.equal(after.key.share?.access, ShareAccess.TIMELINE);
  assert.equal(after.key.keyId, made.key.keyId);
  assert.equal(after.reveal, undefined);
});

test("share-link: stays with its agent", () => {
  const moved: Init = { ...link, agentId: { ...agentId, uid: "u2" } };
  assert.match(
    invalidAt("payload.agentId", () => settle(moved, before)),
    /cannot change/,
  );
});

test("share-link: revoked is revoked", () => {
  const revoked = settle({ ...kept, revoked: true }, before);
  assert.equal(revoked.key.revoked, true);
  const undo = () => settle(kept, { before: revoked.document, beforeKey: revoked.key });
  assert.equal(faultOf(undo).reason, "SHARE_LINK_REVOKED");
});

test("share-link: is shown to the agent's owner and to who may act for every account", () => {
  const isFor = shareLink.isFor as NonNullable<typeof shareLink.isFor>;
  const bob = callerWith(["agents:message"], { ownerProvider: Provider.IDP_OIDC, account: "bob" });
  assert.equal(isFor(made.document, bob), true);
  assert.equal(isFor(made.document, caller), false);
  assert.equal(isFor(made.document, callerWith(["agents:message", "accounts:all"])), true);
});
