import type { Agent, AgentKey } from "../../domain/agent/agent.js";
import type { FollowUpRecord } from "../../domain/agent/follow-up.js";
import type { AgentRow, SpawnRequestRow } from "../../storage/agent-rows.js";
import type { Store } from "../../storage/store.js";
import type { View } from "../view.js";
import { agentOf, followUpRecordOf } from "./rows.js";

/** An agent as the door holds it. */
export interface AgentValue {
  readonly agent: Agent;
  readonly version: number;
  readonly lastSeq: number;
}

/** Everything that decisions about agents look up, each under its own sort of key. */
export interface Values {
  agent: AgentValue | undefined;
  /** The newest incarnation at a path. */
  path: Pick<AgentRow, "uid" | "live"> | undefined;
  followUp: FollowUpRecord | undefined;
  spawnRequest: SpawnRequestRow | undefined;
}

type Sort = keyof Values;
export type Value = { readonly [S in Sort]: { readonly sort: S; readonly value: Values[S] } }[Sort];

/** Keys are JSON arrays: no separator can be smuggled into a part. */
export const keys = {
  agent: (uid: string) => JSON.stringify(["agent", uid]),
  path: ({ tenant, ownerProvider, account, workspace, path }: AgentKey) =>
    JSON.stringify(["path", tenant, ownerProvider, account, workspace, path.join("/")]),
  followUp: (uid: string, followUpId: string) => JSON.stringify(["followUp", uid, followUpId]),
  spawnRequest: (tenant: string, ownerProvider: number, account: string, requestId: string) =>
    JSON.stringify(["spawnRequest", tenant, ownerProvider, account, requestId]),
};

export function look<S extends Sort>(view: View<Value>, _sort: S, key: string): Values[S] {
  return view.get(key).value as Values[S];
}

export async function loadValue(store: Store, key: string): Promise<Value> {
  const [sort, ...parts] = JSON.parse(key) as [Sort, ...never[]];
  switch (sort) {
    case "agent": {
      const record = await store.agent(...(parts as unknown as [string]));
      return { sort, value: record && agentOf(record) };
    }
    case "path": {
      const [tenant, ownerProvider, account, workspace, path] = parts as unknown as [
        string,
        number,
        string,
        string,
        string,
      ];
      const rows = await store.incarnations({ tenant, ownerProvider, account, path, workspace, limit: 1 });
      return { sort, value: rows[0] };
    }
    case "followUp": {
      const row = await store.followUp(...(parts as unknown as [string, string]));
      return { sort, value: row && followUpRecordOf(row) };
    }
    case "spawnRequest": {
      const [tenant, ownerProvider, account, requestId] = parts as unknown as [
        string,
        number,
        string,
        string,
      ];
      return { sort, value: await store.spawnRequest({ tenant, ownerProvider, account, requestId }) };
    }
  }
}
