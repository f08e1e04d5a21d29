import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { UsageService } from "../../gen/retinue/v1/usage_service_pb.js";
import { agentIdMessage } from "../domain/agent/agent-id.js";
import { usageMessage } from "../domain/agent/usage.js";
import { resolveAgent } from "../engine/agents/resolve.js";
import type { UsageOfAgent } from "../storage/agent-rows.js";
import type { Store } from "../storage/store.js";
import { cutPage, decodePageToken, pageSizeOf } from "./page.js";
import { implement, type Service } from "./service.js";

export function usageService(store: Store): Service {
  return implement(UsageService, {
    async listUsage(request, context) {
      const { uid } = await resolveAgent(store, context.caller, request.agentId, "read");
      const size = pageSizeOf(request.pageSize);
      const after = afterOf(request.pageToken);
      const { includeDescendants: descendants } = request;
      const { rows, total } = await store.usage({ uid, descendants, after, limit: size + 1 });
      const { page, nextPageToken } = cutPage(rows, size, cursorOf);
      return { entries: page.map(entryOf), total: usageMessage(total), nextPageToken };
    },
  });
}

function cursorOf({ path, uid, runId, attempt }: UsageOfAgent): string {
  return [path, uid, runId, attempt].join("\n");
}

function afterOf(pageToken: string) {
  const [path = "", uid = "", runId = "0", attempt = "0"] = decodePageToken(pageToken).split("\n");
  return { path, uid, runId: Number(runId), attempt: Number(attempt) };
}

function entryOf(row: UsageOfAgent) {
  const { tenant, ownerProvider, account, workspace, path, uid, runId, attempt, model } = row;
  const key = { tenant, ownerProvider, account, workspace, path: path.split("/") };
  return {
    agentId: agentIdMessage(key, uid),
    runId: BigInt(runId),
    attempt,
    model,
    usage: usageMessage(row),
    time: timestampFromMs(row.atMs),
  };
}
