import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AuditOutcome, AuditService } from "../../gen/retinue/v1/audit_service_pb.js";
import { resolveTenant, tenantOf } from "../domain/caller.js";
import type { Store } from "../storage/store.js";
import { cutPage, decodePageToken, pageSizeOf } from "./page.js";
import { implement, type Service } from "./service.js";

export function auditService(store: Store): Service {
  return implement(AuditService, {
    async listAuditRecords(request, { caller }) {
      const tenant = resolveTenant(caller, request.tenant);
      const size = pageSizeOf(request.pageSize);
      const rows = await store.audit({
        tenant,
        beforeAuditId: request.pageToken === "" ? undefined : decodePageToken(request.pageToken),
        actor: request.actor || undefined,
        action: request.action || undefined,
        target: request.target || undefined,
        limit: size + 1,
      });
      const { page, nextPageToken } = cutPage(rows, size, (row) => row.auditId);
      const records = page.map((row) => ({
        ...row,
        time: timestampFromMs(row.atMs),
        tenant: tenantOf(row.tenant),
        outcome: AuditOutcome[row.outcome],
        generationBefore: BigInt(row.generationBefore),
        generationAfter: BigInt(row.generationAfter),
      }));
      return { records, nextPageToken };
    },
  });
}
