import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentIdSchema } from "../../../gen/retinue/v1/agent_id_pb.js";
import { tenantOf } from "../caller.js";
import type { AgentKey } from "./agent.js";

/** The agent as answers name it: complete. */
export function agentIdMessage(key: AgentKey, uid: string): MessageInitShape<typeof AgentIdSchema> {
  const { ownerProvider, account, workspace, path } = key;
  return { tenant: tenantOf(key.tenant), ownerProvider, account, workspace, agent: [...path], uid };
}
