import type { AgentId } from "../../../gen/retinue/v1/agent_id_pb.js";
import { resolveIncarnation, resolveOwner } from "../../domain/agent/owner.js";
import type { Caller } from "../../domain/caller.js";
import { invalidField } from "../../domain/fault.js";
import type { AgentRow } from "../../storage/agent-rows.js";
import type { Store } from "../../storage/store.js";

/** Incarnations of one path that are looked at; a path that was used more often has old ones only by uid. */
const MAX_INCARNATIONS = 1000;

/** The agent that a request means. Permission is decided before the store is asked. */
export async function resolveAgent(
  store: Store,
  caller: Caller,
  agentId: AgentId | undefined,
  access: "read" | "change",
): Promise<AgentRow> {
  const { tenant, ownerProvider, account } = resolveOwner(caller, agentId);
  const path = agentId?.agent ?? [];
  if (path.length === 0)
    throw invalidField("agentId.agent", "required: the path of the agent", "AGENT_REQUIRED");
  const asked = { path, workspace: agentId?.workspace ?? "", uid: agentId?.uid ?? "" };
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
  return resolveIncarnation(found, asked, access).row;
}
