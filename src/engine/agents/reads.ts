import type { AgentStatus } from "../../../gen/retinue/v1/agent_pb.js";
import type { AgentListEntry } from "../../../gen/retinue/v1/agent_service_pb.js";
import type { Agent } from "../../domain/agent/agent.js";
import { subtreeSpentOf } from "../../domain/agent/budget.js";
import { listEntryOf, statusOf } from "../../domain/agent/status.js";
import { notFound } from "../../domain/fault.js";
import type { AgentRow, AgentsQuery } from "../../storage/agent-rows.js";
import type { Store } from "../../storage/store.js";
import type { Clock } from "../clock.js";
import type { Documents } from "./documents.js";
import { agentOf, listedAgentOf } from "./rows.js";

/** Agents as callers see them, from committed state only. */
export interface AgentViews {
  status(uid: string): Promise<{ readonly agent: Agent; readonly status: AgentStatus }>;
  list(query: AgentsQuery): Promise<{ readonly row: AgentRow; readonly entry: AgentListEntry }[]>;
  dashboardUrl(uid: string): string;
}

export interface AgentViewsOptions {
  readonly store: Store;
  readonly documents: Documents;
  readonly clock: Clock;
  readonly publicUrl: () => string;
}

export function createAgentViews({ store, documents, clock, publicUrl }: AgentViewsOptions): AgentViews {
  const dashboardUrl = (uid: string) => `${publicUrl()}/ui/agents/${uid}`;

  async function reposOf(tenant: string, workspace: string): Promise<string[]> {
    const document = await documents.workspace(tenant, workspace);
    return document?.repos.map((repo) => repo.url) ?? [];
  }

  return {
    dashboardUrl,

    async status(uid) {
      const record = await store.agent(uid);
      // Found a moment ago, and purged since.
      if (record === undefined) throw notFound("AGENT_NOT_FOUND", `no agent ${uid}`, { agent: uid });
      const { agent, lastSeq } = agentOf(record);
      const status = statusOf(agent, {
        nowMs: clock.nowMs(),
        lastSeq: BigInt(lastSeq),
        repos: await reposOf(agent.key.tenant, agent.key.workspace),
        children: await store.childPhases(uid),
        subtreeCost: subtreeSpentOf(agent).costUsd,
        dashboardUrl: dashboardUrl(uid),
        pool: (await documents.poolOf(agent.key.tenant, agent.key.workspace)).name,
      });
      return { agent, status };
    },

    async list(query) {
      const rows = await store.agents(query);
      const repos = new Map<string, string[]>();
      for (const { tenant, workspace } of rows) {
        if (!repos.has(workspace)) repos.set(workspace, await reposOf(tenant, workspace));
      }
      return rows.map((row) => ({
        row,
        entry: listEntryOf(listedAgentOf(row), {
          repos: repos.get(row.workspace) ?? [],
          dashboardUrl: dashboardUrl(row.uid),
        }),
      }));
    },
  };
}
