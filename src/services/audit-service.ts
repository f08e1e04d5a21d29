import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  AuditOutcome,
  AuditService,
  type ListAuditRecordsRequest,
} from "../../gen/retinue/v1/audit_service_pb.js";
import { resolveTenant, tenantOf } from "../domain/caller.js";
import { auditIdAt } from "../engine/audit.js";
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
        beforeAuditId: beforeOf(request),
        fromAuditId: request.since && auditIdAt(timestampMs(request.since)),
        outcome: outcomeOf(request.outcome),
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

/** Where the page before ended, which is never later than where the first one began. */
function beforeOf({ pageToken, until }: ListAuditRecordsRequest): string | undefined {
  if (pageToken !== "") return decodePageToken(pageToken);
  return until && auditIdAt(timestampMs(until));
}

function outcomeOf(outcome: AuditOutcome): "DONE" | "REFUSED" | undefined {
  if (outcome === AuditOutcome.UNSPECIFIED) return undefined;
  return outcome === AuditOutcome.DONE ? "DONE" : "REFUSED";
}
