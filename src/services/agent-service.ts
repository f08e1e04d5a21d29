import { durationMs } from "@bufbuild/protobuf/wkt";
import type { AgentId } from "../../gen/retinue/v1/agent_id_pb.js";
import { AgentService, type ListAgentsRequest } from "../../gen/retinue/v1/agent_service_pb.js";
import { agentIdMessage } from "../domain/agent/agent-id.js";
import { namedOwner, parseAccountFilter } from "../domain/agent/list-filter.js";
import { requireSpawner, resolveOwner } from "../domain/agent/owner.js";
import { clearFollowUps, removeFollowUp } from "../domain/agent/queue-edit.js";
import { budgetOf, followUpRequestOf, spawnRequestOf } from "../domain/agent/requests.js";
import { requireSharedList } from "../domain/agent/shared.js";
import { stopTurn } from "../domain/agent/stop-turn.js";
import { updateAgent } from "../domain/agent/update-agent.js";
import { type Caller, requireScope, resolveTenant } from "../domain/caller.js";
import { invalidField } from "../domain/fault.js";
import type { Commands } from "../engine/agents/commands.js";
import type { Hub } from "../engine/agents/hub.js";
import { withProfile } from "../engine/agents/profiles.js";
import type { AgentViews } from "../engine/agents/reads.js";
import { resolveAgent } from "../engine/agents/resolve.js";
import { type Spawner, spawn } from "../engine/agents/spawn.js";
import { waitForAgent } from "../engine/agents/wait.js";
import type { Store } from "../storage/store.js";
import { cutPage, decodePageToken } from "./page.js";
import { actOf, type CallContext, implement, type Service } from "./service.js";

export interface AgentServiceOptions {
  readonly store: Store;
  readonly hub: Hub;
  readonly views: AgentViews;
  readonly commands: Commands;
  readonly spawner: Spawner;
}

const MAX_LISTED = 1000;

export function agentService({ store, hub, views, commands, spawner }: AgentServiceOptions): Service {
  const find = (context: CallContext, agentId: AgentId | undefined, access: "read" | "change") =>
    resolveAgent(store, context.caller, agentId, access);

  return implement(AgentService, {
    async spawnAgent(request, context) {
      const caller = await withProfile(store, context.caller, request.agentId);
      const owner = resolveOwner(caller, request.agentId);
      requireSpawner(caller, owner);
      const { agent: path = [], workspace = "" } = request.agentId ?? {};
      const key = { ...owner, path, workspace };
      const made = await spawn(spawner, {
        key,
        request: spawnRequestOf(request),
        requestId: request.requestId,
        act: actOf(context, request.justification),
      });
      return {
        agentId: agentIdMessage(made.key, made.uid),
        phase: made.phase,
        runCount: BigInt(made.runCount),
        created: made.created,
        dashboardUrl: views.dashboardUrl(made.uid),
      };
    },

    async getAgentStatus(request, context) {
      const row = await find(context, request.agentId, "read");
      const { status } = await views.status(row.uid);
      return { status };
    },

    async waitAgent(request, context) {
      const row = await find(context, request.agentId, "read");
      const timeoutMs = request.timeout && durationMs(request.timeout);
      if (timeoutMs !== undefined && timeoutMs < 0) throw invalidField("timeout", "must not be negative");
      return waitForAgent(
        { store, hub, views },
        {
          uid: row.uid,
          timeoutMs,
          followUpId: request.followUpId,
          afterRun: Number(request.afterRun),
          signal: context.signal,
        },
      );
    },

    async listAgents(request, context) {
      if (context.caller.share) requireSharedList(context.caller.share, request.parentId);
      const tenant = resolveTenant(context.caller, request.tenant ?? request.parentId?.tenant);
      const owner =
        request.account === "" && request.parentId
          ? undefined
          : await accountFilter(store, context.caller, request);
      const parentUid = request.parentId ? (await find(context, request.parentId, "read")).uid : "";
      if (request.pageSize < 0) throw invalidField("pageSize", `must be 0 or more, not ${request.pageSize}`);
      const size = request.pageSize === 0 ? MAX_LISTED : Math.min(request.pageSize, MAX_LISTED);
      const [path = "", uid = ""] = decodePageToken(request.pageToken).split("\n");
      const after = request.pageToken === "" ? undefined : { path, uid };
      const { includeTerminal, includeDescendants: descendants } = request;
      const limit = size + 1;
      const rows = await views.list({ tenant, parentUid, descendants, owner, includeTerminal, after, limit });
      const { page, nextPageToken } = cutPage(rows, size, ({ row }) => `${row.path}\n${row.uid}`);
      return { entries: page.map(({ entry }) => entry), nextPageToken };
    },

    async queueFollowUp(request, context) {
      if (request.preempt) requireScope(context.caller, "agents:interrupt");
      const row = await find(context, request.agentId, "change");
      const receipt = await commands.queue(
        row,
        followUpRequestOf(request),
        actOf(context, request.justification),
      );
      return {
        followUpId: receipt.followUpId,
        state: receipt.state,
        position: receipt.position,
        seq: BigInt(receipt.seq),
        clearedIds: [...receipt.clearedIds],
        interruptedRunId: BigInt(receipt.interruptedRunId),
      };
    },

    async removeFollowUp(request, context) {
      const row = await find(context, request.agentId, "change");
      const { followUpId } = request;
      return commands.decide(row, actOf(context, request.justification), (agent, c) =>
        removeFollowUp(agent, followUpId, c),
      );
    },

    async clearFollowUps(request, context) {
      const row = await find(context, request.agentId, "change");
      return commands.decide(row, actOf(context, request.justification), clearFollowUps);
    },

    async stopTurn(request, context) {
      const row = await find(context, request.agentId, "change");
      const { runId, mode } = request;
      await commands.decide(row, actOf(context, request.justification), (agent, c) =>
        stopTurn(agent, { runId, mode }, c),
      );
      return {};
    },

    async killAgent(request, context) {
      const row = await find(context, request.agentId, "change");
      await commands.kill(row, actOf(context, request.justification));
      return {};
    },

    async updateAgent(request, context) {
      const row = await find(context, request.agentId, "change");
      const update = { budget: request.budget && budgetOf(request.budget), labels: request.labels?.labels };
      await commands.decide(row, actOf(context, request.justification), (agent, c) =>
        updateAgent(agent, update, c),
      );
      return { status: (await views.status(row.uid)).status };
    },
  });
}

/** A service profile that lists the caller is as good as their own account. */
async function accountFilter(store: Store, caller: Caller, { account, tenant }: ListAgentsRequest) {
  const named = namedOwner(account, caller);
  return parseAccountFilter(account, await withProfile(store, caller, named && { ...named, tenant }));
}
