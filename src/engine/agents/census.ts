import type { AgentRow } from "../../storage/agent-rows.js";
import type { Store } from "../../storage/store.js";

/** Who lives in each tenant. Kept in memory: a tenant with a thousand agents is not counted anew for each spawn. */
export interface Census {
  /** A place for one more agent; to be left when the spawn is over, whatever came of it. */
  take(tenant: string): Promise<Place>;
  /** A commit that concerns the agent stands. */
  committed(row: Pick<AgentRow, "uid" | "tenant" | "live">): void;
}

export interface Place {
  /** Live agents of the tenant, and spawns under way, before this one. */
  readonly taken: number;
  leave(): void;
}

interface Tenant {
  readonly live: Set<string>;
  /** Ended while the store was being read, which may have seen them alive. */
  readonly endedMeanwhile: Set<string>;
  spawning: number;
  counting: boolean;
  readonly counted: Promise<void>;
}

export function createCensus(store: Pick<Store, "liveAgents">): Census {
  /** Those that somebody has asked for, each read from the store once. */
  const tenants = new Map<string, Tenant>();

  function find(name: string): Tenant {
    const known = tenants.get(name);
    if (known) return known;
    const live = new Set<string>();
    const endedMeanwhile = new Set<string>();
    const counted = store.liveAgents(name).then((uids) => {
      for (const uid of uids) if (!endedMeanwhile.has(uid)) live.add(uid);
      endedMeanwhile.clear();
      tenant.counting = false;
    });
    const tenant = { live, endedMeanwhile, spawning: 0, counting: true, counted };
    tenants.set(name, tenant);
    counted.catch(() => tenants.delete(name));
    return tenant;
  }

  return {
    async take(name) {
      const tenant = find(name);
      await tenant.counted;
      const taken = tenant.live.size + tenant.spawning;
      tenant.spawning += 1;
      return {
        taken,
        leave() {
          tenant.spawning -= 1;
        },
      };
    },
    committed({ uid, tenant: name, live }) {
      const tenant = tenants.get(name);
      if (tenant === undefined) return;
      if (live) tenant.live.add(uid);
      else tenant.live.delete(uid);
      if (!live && tenant.counting) tenant.endedMeanwhile.add(uid);
    },
  };
}
