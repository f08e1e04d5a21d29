import type { Limits } from "../../domain/agent/limits.js";
import type { Change, Store } from "../../storage/store.js";
import type { Clock } from "../clock.js";
import { createDoor } from "../door.js";
import type { Census } from "./census.js";
import type { AtFailpoint } from "./failpoints.js";
import type { Hub } from "./hub.js";
import { livePathsOf } from "./live-paths.js";
import type { Masks } from "./masks.js";
import { openStage, type Stage } from "./stage.js";
import { loadValue, type Value } from "./values.js";

/** The door of the agents: every change of one, by a caller, a runner or the clock, is one call of `change`. */
export interface Agents {
  /**
   * Decides and commits. `decide` is pure but for the stage; it may run several times.
   *
   * @param actor whose doing the events are
   */
  change<R>(actor: string, decide: (stage: Stage, nowMs: number) => R): Promise<R>;
}

export interface AgentsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly hub: Hub;
  readonly census: Census;
  readonly masks: Masks;
  /** Whether somebody waits for a slot of the pool. */
  readonly slotWanted: () => boolean;
  /** Agents that a commit changed, once it stands. */
  readonly changed: (uid: string) => void;
  readonly at: AtFailpoint;
}

/** Live agents are few and busy; their ended ones are read from the store. */
const REMEMBERED = 10_000;

export function createAgents(options: AgentsOptions): Agents {
  const { store, clock, limits, hub, masks, census, slotWanted, changed, at } = options;
  const livePaths = livePathsOf(store);
  const door = createDoor<Value>({ store, load: (key) => loadValue(store, key), remember: REMEMBERED });

  return {
    async change(actor, decide) {
      let committed: readonly Change[] = [];
      const reply = await door.change((view) => {
        const nowMs = clock.nowMs();
        const stage = openStage(view, {
          nowMs,
          limits,
          actor,
          masks,
          slotWanted: slotWanted(),
          newId: clock.newId,
        });
        const decision = stage.done(decide(stage, nowMs));
        committed = decision.changes;
        return decision;
      });
      if (committed.length > 0) at("after-commit");
      for (const done of committed) {
        if (done.type !== "agent") continue;
        if (done.ifVersion === 0 || !done.row.live) livePaths.forget(done.row);
        census.committed(done.row);
        hub.publish(done.row);
        changed(done.row.uid);
      }
      return reply;
    },
  };
}
