import { TimelineService, type WatchRequest } from "../../gen/retinue/v1/timeline_service_pb.js";
import { invalidField } from "../domain/fault.js";
import type { Hub } from "../engine/agents/hub.js";
import { keyOf } from "../engine/agents/live-paths.js";
import type { AgentViews } from "../engine/agents/reads.js";
import { resolveAgent } from "../engine/agents/resolve.js";
import { eventMessage, watchAgent } from "../engine/agents/watch.js";
import type { Store } from "../storage/store.js";
import { pageSizeOf } from "./page.js";
import { type CallContext, implement, type Service } from "./service.js";

export function timelineService(store: Store, hub: Hub, views: AgentViews): Service {
  return implement(TimelineService, {
    async listEvents(request, context) {
      const row = await resolveAgent(store, context.caller, request.agentId, "read");
      const afterSeq = seqOf(request.afterSeq);
      const limit = pageSizeOf(request.pageSize);
      const { types, runId } = request;
      const query = { uid: row.uid, afterSeq, types, runId: Number(runId), limit: limit + 1 };
      const events = await store.events(query);
      const key = keyOf(row);
      return {
        events: events.slice(0, limit).map((event) => eventMessage(event, key)),
        lastSeq: BigInt((await store.agent(row.uid))?.row.lastSeq ?? 0),
        hasMore: events.length > limit,
      };
    },

    watch: (request, context) => watchAgent({ store, hub, views }, () => watched(request, context)),
  });

  async function watched({ agentId, afterUid, afterSeq }: WatchRequest, context: CallContext) {
    const row = await resolveAgent(store, context.caller, agentId, "read");
    const known = afterUid === "" || afterUid === row.uid;
    const from = afterSeq === undefined || !known ? undefined : seqOf(afterSeq);
    const key = keyOf(row);
    return { uid: row.uid, key, afterSeq: from, signal: context.signal };
  }
}

function seqOf(asked: bigint): number {
  if (asked < 0n) throw invalidField("afterSeq", "must be 0 or more");
  return Number(asked);
}
