import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AutomationService } from "../../gen/retinue/v1/automation_service_pb.js";
import { requireJustification, resolveTenant } from "../domain/caller.js";
import { invalidField } from "../domain/fault.js";
import { resolveAgent } from "../engine/agents/resolve.js";
import { scheduleStatus } from "../engine/automation/schedule-status.js";
import type { Webhooks } from "../engine/automation/webhooks.js";
import type { Clock } from "../engine/clock.js";
import type { Store } from "../storage/store.js";
import { implement, type Service } from "./service.js";

export interface AutomationServiceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly webhooks: Pick<Webhooks, "replay">;
}

export function automationService({ store, clock, webhooks }: AutomationServiceOptions): Service {
  return implement(AutomationService, {
    async getScheduleStatus(request, { caller }) {
      const tenant = resolveTenant(caller, request.tenant);
      const { last, nextDueAtMs } = await scheduleStatus(store, tenant, request.name, clock.nowMs());
      return {
        lastDueAt: last && timestampFromMs(last.dueAtMs),
        lastUid: last?.uid ?? "",
        lastFollowUpId: last?.messageId ?? "",
        lastError: last?.error ?? "",
        nextDueAt: nextDueAtMs === undefined ? undefined : timestampFromMs(nextDueAtMs),
      };
    },

    async replayWebhook(request, { caller, action }) {
      const tenant = resolveTenant(caller, request.tenant);
      const { justification } = request;
      requireJustification(caller, "justification", justification);
      if (request.afterSeq < 0n) throw invalidField("afterSeq", "must be 0 or more");
      const row = await resolveAgent(store, caller, request.agentId, "read");
      const act = { caller, action, justification };
      await webhooks.replay({ tenant, name: request.name, row, afterSeq: Number(request.afterSeq), act });
      return { lastSeq: BigInt((await store.agent(row.uid))?.row.lastSeq ?? 0) };
    },
  });
}
