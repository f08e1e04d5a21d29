import type { AgentKey } from "../../domain/agent/agent.js";
import type { AgentRow } from "../../storage/agent-rows.js";
import type { Store } from "../../storage/store.js";

/** What of an agent never changes. */
export type AgentRef = Pick<
  AgentRow,
  "uid" | "tenant" | "ownerProvider" | "account" | "workspace" | "path" | "parentUid"
>;

/**
 * Live agents by the names under which they were asked for: a busy agent is looked up at every call, and finding it
 * costs as much as deciding. Whoever commits a birth or an end tells, before it is acknowledged.
 */
export interface LivePaths {
  /** The workspace of the key may be empty, as callers may leave it. */
  find(key: AgentKey): AgentRef | undefined;
  remember(key: AgentKey, found: AgentRef): void;
  /** Something began or ended at the path, in whatever workspace. */
  forget(whose: AgentRef): void;
}

const MAX_PATHS = 10_000;

function createLivePaths(): LivePaths {
  const paths = new Map<string, Map<string, AgentRef>>();
  const nameOf = (tenant: string, provider: number, account: string, path: string) =>
    `${path}\n${account}\n${provider}\n${tenant}`;
  return {
    find({ tenant, ownerProvider, account, path, workspace }) {
      return paths.get(nameOf(tenant, ownerProvider, account, path.join("/")))?.get(workspace);
    },
    remember(key, { uid, tenant, ownerProvider, account, workspace, path, parentUid }) {
      if (paths.size >= MAX_PATHS) paths.clear();
      const name = nameOf(tenant, ownerProvider, account, path);
      const found = paths.get(name) ?? new Map<string, AgentRef>();
      found.set(key.workspace, { uid, tenant, ownerProvider, account, workspace, path, parentUid });
      paths.set(name, found);
    },
    forget({ tenant, ownerProvider, account, path }) {
      paths.delete(nameOf(tenant, ownerProvider, account, path));
    },
  };
}

const byStore = new WeakMap<Store, LivePaths>();

/** One per store, as its agents are. */
export function livePathsOf(store: Store): LivePaths {
  const known = byStore.get(store) ?? createLivePaths();
  byStore.set(store, known);
  return known;
}

export function keyOf({ tenant, ownerProvider, account, workspace, path }: AgentRef): AgentKey {
  return { tenant, ownerProvider, account, workspace, path: path.split("/") };
}
