import { createSlots, type PoolLimits, type Slots } from "./slots.js";

/** A pool of a tenant, as its document says now. */
export interface Pool {
  readonly tenant: string;
  readonly name: string;
  readonly limits: PoolLimits;
}

/** Who asks, and for whom it counts. */
export interface SlotAsker {
  readonly uid: string;
  readonly account: string;
  /** From the parent up. */
  readonly ancestors: readonly string[];
}

/** Every pool of every tenant: an agent's turns take slots of its workspace's pool. */
export interface Pools extends Pick<Slots, "turnOver" | "release" | "holds" | "lend" | "wanted" | "stop"> {
  request(pool: Pool, asker: SlotAsker): void;
  hold(pool: Pool, asker: SlotAsker, run: number): void;
  /** Turns that run, and agents that wait for one; zero for a pool that nobody has used. */
  counts(tenant: string, name: string): { readonly held: number; readonly waiting: number };
}

export function createPools(granted: (uid: string) => void): Pools {
  const pools = new Map<string, Slots>();
  const placed = new Map<string, Slots>();

  /** The slots that the agent has to do with; one that holds a slot stays where it is until it gives it back. */
  function place({ tenant, name, limits }: Pool, uid: string): Slots {
    const key = keyOf(tenant, name);
    const slots = pools.get(key) ?? createSlots(limits, granted);
    pools.set(key, slots);
    slots.resize(limits);
    const before = placed.get(uid);
    if (before !== undefined && before !== slots) {
      if (before.holds(uid)) return before;
      before.release(uid);
    }
    placed.set(uid, slots);
    return slots;
  }

  return {
    request: (pool, { uid, account, ancestors }) => place(pool, uid).request(uid, account, ancestors),
    hold: (pool, { uid, account, ancestors }, run) => place(pool, uid).hold(uid, run, ancestors, account),
    turnOver: (uid) => placed.get(uid)?.turnOver(uid),
    release(uid) {
      placed.get(uid)?.release(uid);
      placed.delete(uid);
    },
    holds: (uid) => placed.get(uid)?.holds(uid) ?? false,
    lend: (uid) => placed.get(uid)?.lend(uid) ?? (() => {}),
    get wanted() {
      return [...pools.values()].some((slots) => slots.wanted);
    },
    stop() {
      for (const slots of pools.values()) slots.stop();
    },
    counts: (tenant, name) => pools.get(keyOf(tenant, name))?.counts() ?? { held: 0, waiting: 0 },
  };
}

function keyOf(tenant: string, name: string): string {
  return JSON.stringify([tenant, name]);
}
