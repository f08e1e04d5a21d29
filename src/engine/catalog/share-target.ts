import { clone, create } from "@bufbuild/protobuf";
import { AgentIdSchema, TenantSchema } from "../../../gen/retinue/v1/agent_id_pb.js";
import { type ShareLink, ShareLinkSchema } from "../../../gen/retinue/v1/catalog_pb.js";
import { agentIdMessage } from "../../domain/agent/agent-id.js";
import { resolveTenant, tenantOf } from "../../domain/caller.js";
import { invalidField } from "../../domain/fault.js";
import type { Store } from "../../storage/store.js";
import { keyOf } from "../agents/live-paths.js";
import { resolveAgent } from "../agents/resolve.js";
import type { PutRequest } from "./put.js";

/**
 * The link with its agent named in full, found as the caller: who may not message it learns nothing about it. Done
 * before the decision, which looks at documents only; the uid found here is never another agent's.
 */
export async function withShareTarget(
  store: Store,
  { ref, act: { caller } }: PutRequest,
  sent: ShareLink,
): Promise<ShareLink> {
  if (sent.agentId === undefined || sent.agentId.agent.length === 0) return sent; // the kind says what is missing
  const agentId = clone(AgentIdSchema, sent.agentId);
  agentId.tenant ??= create(TenantSchema, tenantOf(ref.tenant));
  if (resolveTenant(caller, agentId.tenant) !== ref.tenant) {
    throw invalidField("payload.agentId.tenant", `must be the tenant of the link, ${ref.tenant}`);
  }
  const row = await resolveAgent(store, caller, agentId, "read");
  const link = clone(ShareLinkSchema, sent);
  link.agentId = create(AgentIdSchema, agentIdMessage(keyOf(row), row.uid));
  return link;
}
