import { create } from "@bufbuild/protobuf";
import { type AgentId, AgentIdSchema } from "../../../gen/retinue/v1/agent_id_pb.js";
import type { AgentKey } from "../../domain/agent/agent.js";
import { agentIdMessage } from "../../domain/agent/agent-id.js";
import { mayActFor, resolveIncarnation, resolveOwner } from "../../domain/agent/owner.js";
import { requireFound } from "../../domain/agent/phase.js";
import { requireShared } from "../../domain/agent/shared.js";
import { type Caller, resolveTenant } from "../../domain/caller.js";
import { invalidField } from "../../domain/fault.js";
import type { ShareGrant } from "../../domain/key.js";
import type { AgentRow } from "../../storage/agent-rows.js";
import type { Store } from "../../storage/store.js";
import { type AgentRef, livePathsOf } from "./live-paths.js";
import { withProfile } from "./profiles.js";
import { listedAgentOf } from "./rows.js";

/** Incarnations of one path that are looked at; a path that was used more often has old ones only by uid. */
const MAX_INCARNATIONS = 1000;

/** The agent that a request means. Permission is decided before the store is asked. */
export async function resolveAgent(
  store: Store,
  asker: Caller,
  asked: AgentId | undefined,
  access: "read" | "change",
): Promise<AgentRef> {
  if (asker.share) return resolveShared(store, asker, asker.share, asked);
  const byUid = asked !== undefined && asked.agent.length === 0 && asked.uid !== "";
  const agentId = byUid ? await completed(store, asker, asked) : asked;
  const caller = await withProfile(store, asker, agentId);
  const { tenant, ownerProvider, account } = resolveOwner(caller, agentId);
  const path = agentId?.agent ?? [];
  if (path.length === 0)
    throw invalidField("agentId.agent", "required: the path of the agent", "AGENT_REQUIRED");
  const { workspace = "", uid = "" } = agentId ?? {};
  const key = { tenant, ownerProvider, account, path, workspace };
  if (uid !== "") return findAgent(store, key, uid, access);
  return livePathsOf(store).find(key) ?? found(store, key, access);
}

async function found(store: Store, key: AgentKey, access: "read" | "change"): Promise<AgentRef> {
  const row = await findAgent(store, key, "", access);
  if (row.live) livePathsOf(store).remember(key, row);
  return row;
}

/** The agent at a path; an empty workspace stands for the only one that has such an agent. */
export async function findAgent(
  store: Store,
  { tenant, ownerProvider, account, path, workspace }: AgentKey,
  uid: string,
  access: "read" | "change",
): Promise<AgentRow> {
  const rows = await store.incarnations({
    tenant,
    ownerProvider,
    account,
    path: path.join("/"),
    workspace: undefined,
    limit: MAX_INCARNATIONS,
  });
  const newest = new Set<string>();
  const found = rows.map((row) => {
    const current = !newest.has(row.workspace);
    newest.add(row.workspace);
    return { row, uid: row.uid, workspace: row.workspace, current };
  });
  return resolveIncarnation(found, { path, workspace, uid }, access).row;
}

/** A uid alone names an agent too. Whose it is shows only by looking, so one of others is as good as missing. */
async function completed(store: Store, caller: Caller, asked: AgentId): Promise<AgentId> {
  const tenant = resolveTenant(caller, asked.tenant);
  const row = (await store.agent(asked.uid))?.row;
  const whose = row && { ownerProvider: row.ownerProvider, account: row.account, tenant: asked.tenant };
  const permitted = row?.tenant === tenant && mayActFor(await withProfile(store, caller, whose), row);
  const seen = permitted ? row : undefined;
  const { key, uid } = listedAgentOf(requireFound(seen, [asked.uid]));
  return create(AgentIdSchema, agentIdMessage(key, uid));
}

/** Within a share link: its own agent where none is named, and below it only what descends from that incarnation. */
async function resolveShared(
  store: Store,
  caller: Caller,
  share: ShareGrant,
  asked: AgentId | undefined,
): Promise<AgentRow> {
  const { tenant, ownerProvider, account } = resolveOwner(caller, asked);
  const uid = asked?.uid ?? "";
  if (uid !== "" && asked?.agent.length === 0) {
    const row = (await store.agent(uid))?.row;
    const shown =
      row && (uid === share.uid || (share.includeDescendants && (await descends(store, row, share.uid))));
    return requireFound(shown ? row : undefined, [uid]);
  }
  const path = asked?.agent.length ? asked.agent : share.path;
  requireShared(share, path, asked?.workspace ?? "");
  const rows = await store.incarnations({
    tenant,
    ownerProvider,
    account,
    path: path.join("/"),
    workspace: share.workspace,
    limit: MAX_INCARNATIONS,
  });
  for (const row of rows) {
    if ((uid === "" || uid === row.uid) && (await descends(store, row, share.uid))) return row;
  }
  return requireFound<AgentRow>(undefined, path);
}

async function descends(store: Store, row: AgentRow, uid: string): Promise<boolean> {
  if (row.uid === uid) return true;
  const parent = row.parentUid === "" ? undefined : await store.agent(row.parentUid);
  return parent !== undefined && descends(store, parent.row, uid);
}
