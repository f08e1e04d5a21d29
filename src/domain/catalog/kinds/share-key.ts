import { clone, equals } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { AgentIdSchema } from "../../../../gen/retinue/v1/agent_id_pb.js";
import { type ShareLink, ShareLinkSchema } from "../../../../gen/retinue/v1/catalog_pb.js";
import type { Caller } from "../../caller.js";
import { failedPrecondition, invalidField } from "../../fault.js";
import { formatKey, hashSecret, type KeyRecord } from "../../key.js";
import type { KindWrite, Settled } from "../kind.js";

const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_LIFE_MS = 30 * DAY_MS;
const LONGEST_LIFE_MS = 366 * DAY_MS;

/** Makes the key of a new link, or changes how long and how much the old one shows. */
export function settleShareLink(write: KindWrite<ShareLink>): Settled<ShareLink> {
  return write.before === undefined ? createLink(write) : updateLink(write, write.before);
}

/** Who may message the agent may see and end its links. */
export function maySee({ agentId }: ShareLink, caller: Caller): boolean {
  const own = agentId?.ownerProvider === caller.ownerProvider && agentId.account === caller.account;
  return own || caller.scopes.has("accounts:all");
}

/** The agent has been found by now, and the document names it in full. */
function createLink(write: KindWrite<ShareLink>): Settled<ShareLink> {
  const { tenant, name, nowMs, newKey, publicUrl } = write;
  const document = clone(ShareLinkSchema, write.document);
  if (document.revoked) throw invalidField("payload.revoked", "a new link cannot be revoked already");
  checkLife(document, nowMs);
  const parts = newKey();
  document.keyId = parts.keyId;
  const key: KeyRecord = {
    keyId: parts.keyId,
    tenant,
    token: name,
    secretSha256: hashSecret(parts.secret),
    // The agent's owner: what the link shows is found like the owner's own.
    ownerProvider: document.agentId?.ownerProvider ?? 0,
    account: document.agentId?.account ?? "",
    role: "",
    scopes: ["agents:read"],
    lastUsedAtMs: undefined,
    ...grantOf(document),
  };
  return { document, key, reveal: { url: `${publicUrl}/ui/share#${formatKey(parts)}` } };
}

function updateLink(
  { name, document: sent, beforeKey, nowMs }: KindWrite<ShareLink>,
  before: ShareLink,
): Settled<ShareLink> {
  if (beforeKey === undefined) throw new Error(`share-link ${name} has no key`);
  const document = clone(ShareLinkSchema, sent);
  if (!(document.agentId && before.agentId && equals(AgentIdSchema, document.agentId, before.agentId))) {
    throw invalidField("payload.agentId", "cannot change: make another link");
  }
  if (before.revoked && !document.revoked) {
    const text = `share-link ${name} is revoked, which cannot be undone: make another one`;
    throw failedPrecondition("SHARE_LINK_REVOKED", `share-link/${name}`, text);
  }
  if (!document.revoked) checkLife(document, nowMs, before);
  return { document, key: { ...beforeKey, ...grantOf(document) } };
}

function checkLife(document: ShareLink, nowMs: number, before?: ShareLink): void {
  document.expiresAt ??= before?.expiresAt ?? timestampFromMs(nowMs + DEFAULT_LIFE_MS);
  const expiresAtMs = timestampMs(document.expiresAt);
  if (before?.expiresAt && timestampMs(before.expiresAt) === expiresAtMs) return;
  if (expiresAtMs <= nowMs) throw invalidField("payload.expiresAt", "is past: the link would never work");
  if (expiresAtMs > nowMs + LONGEST_LIFE_MS) {
    throw invalidField("payload.expiresAt", "must be at most a year ahead");
  }
}

function grantOf(document: ShareLink) {
  const { displayName, expiresAt, revoked, access, includeDescendants, agentId } = document;
  return {
    displayName,
    expiresAtMs: expiresAt && timestampMs(expiresAt),
    revoked,
    share: {
      uid: agentId?.uid ?? "",
      workspace: agentId?.workspace ?? "",
      path: agentId?.agent ?? [],
      access,
      includeDescendants,
    },
  };
}
