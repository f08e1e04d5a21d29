import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { RetentionService } from "../../gen/retinue/v1/retention_service_pb.js";
import { requireScope, resolveTenant } from "../domain/caller.js";
import { invalidField } from "../domain/fault.js";
import type { Clock } from "../engine/clock.js";
import type { Retention } from "../engine/retention.js";
import { actOf, implement, type Service } from "./service.js";

export function retentionService(retention: Retention, clock: Clock): Service {
  function pastMs(field: string, time: Timestamp | undefined): number | undefined {
    const ms = time && timestampMs(time);
    if (ms !== undefined && ms > clock.nowMs()) throw invalidField(field, "must not be in the future");
    return ms;
  }

  return implement(RetentionService, {
    async purge(request, context) {
      const { caller } = context;
      const tenant = resolveTenant(caller, request.tenant);
      requireScope(caller, "accounts:all");
      if (request.auditBefore) requireScope(caller, "platform:operator");
      if (!request.agentsBefore && !request.auditBefore) {
        throw invalidField("agentsBefore", "set agentsBefore, auditBefore or both");
      }
      return retention.purge({
        tenant,
        agentsBeforeMs: pastMs("agentsBefore", request.agentsBefore),
        auditBeforeMs: pastMs("auditBefore", request.auditBefore),
        act: actOf(context, request.justification),
      });
    },
  });
}
