import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { IdentityService } from "../../gen/retinue/v1/identity_service_pb.js";
import { agentIdMessage } from "../domain/agent/agent-id.js";
import { tenantOf } from "../domain/caller.js";
import { implement, type Service } from "./service.js";

export function identityService(version: string): Service {
  return implement(IdentityService, {
    async whoami(_request, { caller }) {
      return {
        tenant: tenantOf(caller.tenant),
        ownerProvider: caller.ownerProvider,
        account: caller.account,
        keyId: caller.keyId,
        keyName: caller.keyName,
        role: caller.role,
        scopes: [...caller.scopes],
        expiresAt: caller.expiresAtMs === undefined ? undefined : timestampFromMs(caller.expiresAtMs),
        server: { version },
        share: caller.share && {
          agentId: agentIdMessage({ ...caller, ...caller.share }, caller.share.uid),
          access: caller.share.access,
          includeDescendants: caller.share.includeDescendants,
        },
      };
    },
  });
}
