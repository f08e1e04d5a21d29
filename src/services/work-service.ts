import { fromBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { AgentId } from "../../gen/retinue/v1/agent_id_pb.js";
import { EventPayloadSchema } from "../../gen/retinue/v1/event_pb.js";
import { WorkService } from "../../gen/retinue/v1/work_service_pb.js";
import type { Agent } from "../domain/agent/agent.js";
import { requireFound } from "../domain/agent/phase.js";
import { TRANSCRIPT_TYPES, transcriptPiece } from "../domain/agent/transcript.js";
import { invalidField } from "../domain/fault.js";
import { resolveAgent } from "../engine/agents/resolve.js";
import { listedAgentOf } from "../engine/agents/rows.js";
import type { Work } from "../engine/agents/work.js";
import type { Store } from "../storage/store.js";
import { type CallContext, implement, type Service } from "./service.js";

/** Each event has at most 64 KiB: a page stays within what a client takes. */
const EVENTS_A_PAGE = 200;
const PAGE_CHARACTERS = 1024 * 1024;

export function workService(store: Store, work: Work): Service {
  const find = (context: CallContext, agentId: AgentId | undefined) =>
    resolveAgent(store, context.caller, agentId, "read");

  async function agentAt(context: CallContext, agentId: AgentId | undefined): Promise<Agent> {
    const { uid, path } = await find(context, agentId);
    return listedAgentOf(requireFound((await store.agent(uid))?.row, [path]));
  }

  return implement(WorkService, {
    async getAgentDiff(request, context) {
      const agent = await agentAt(context, request.agentId);
      const { files, ...diff } = await work.diff(agent, request.repo);
      return { ...diff, files: [...files] };
    },

    async getAgentBranch(request, context) {
      return work.branch(await agentAt(context, request.agentId), request.repo);
    },

    async getAgentTranscript(request, context) {
      const { uid } = await find(context, request.agentId);
      if (request.afterSeq < 0n) throw invalidField("afterSeq", "must be 0 or more");
      const query = { uid, afterSeq: Number(request.afterSeq), types: TRANSCRIPT_TYPES, runId: 0 };
      const events = await store.events({ ...query, limit: EVENTS_A_PAGE + 1 });
      let text = "";
      let last = query.afterSeq;
      for (const event of events.slice(0, EVENTS_A_PAGE)) {
        if (text.length > PAGE_CHARACTERS) break;
        const piece = transcriptPiece(fromBinary(EventPayloadSchema, event.payload));
        if (piece !== "") text += `${piece}\n\n`;
        last = event.seq;
      }
      return { text, lastSeq: BigInt(last), hasMore: (events.at(-1)?.seq ?? 0) > last };
    },

    async listAgentPushes(request, context) {
      const { uid } = await find(context, request.agentId);
      const pushes = (await store.pushes(uid)).map((row) => ({
        repo: row.repo,
        branch: row.branch,
        commit: row.commit,
        pushedAt: timestampFromMs(row.pushedAtMs),
        forwardedCommit: row.forwardedCommit,
        attempts: row.attempts,
        error: row.error,
      }));
      return { pushes };
    },
  });
}
