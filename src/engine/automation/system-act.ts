import { Provider } from "../../../gen/retinue/v1/agent_id_pb.js";
import type { Act } from "../audit.js";

/** What the server does by itself; `system` in the audit. */
export function systemAct(tenant: string, action: string): Act {
  const nobody = { ownerProvider: Provider.UNSPECIFIED, account: "", keyId: "", keyName: "", role: "" };
  const caller = { tenant, ...nobody, scopes: new Set<never>(), expiresAtMs: undefined };
  return { caller, action, justification: "" };
}
