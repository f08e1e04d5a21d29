import type { Logger } from "pino";
import type { Agent } from "../../domain/agent/agent.js";
import { type DesiredEffect, desired } from "../../domain/agent/desired.js";
import { processesEnded } from "../../domain/agent/kill.js";
import type { Limits } from "../../domain/agent/limits.js";
import { slotGranted } from "../../domain/agent/settle.js";
import { timePassed } from "../../domain/agent/time-passed.js";
import { turnLost } from "../../domain/agent/turn-loss.js";
import type { Store } from "../../storage/store.js";
import type { Clock } from "../clock.js";
import type { Agents } from "./agents.js";
import type { AtFailpoint } from "./failpoints.js";
import type { Pool, Pools, SlotAsker } from "./pools.js";
import type { Sessions } from "./sessions.js";
import { createTimers } from "./timers.js";

/**
 * Makes what runs match what the store says. Work comes from state, not from messages: a commit only hints at whom
 * to look, so that an ordinary wake-up and a restart after a crash are the same code.
 */
export interface Reconciler {
  /** Something about the agent was committed. */
  hint(uid: string): void;
  /** An effect on the agent came to nothing: another try follows, later each time. */
  comeBack(uid: string, err: unknown): void;
  /** Whether somebody waits for a slot. */
  slotWanted(): boolean;
  /** The agent's turn only waits for a child; call the answer when it goes on. */
  lendSlot(uid: string): () => void;
  /** Ends what an earlier server left behind, and takes up every agent with something left to do. */
  start(): Promise<void>;
  /** No new turns; running ones are suspended and go on at the next start. */
  stop(): Promise<void>;
}

export interface ReconcilerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly pools: (granted: (uid: string) => void) => Pools;
  readonly poolOf: (agent: Agent) => Promise<Pool>;
  readonly agents: () => Agents;
  readonly sessions: () => Sessions;
  readonly at: AtFailpoint;
  readonly log: Logger;
}

interface Seen {
  readonly agent: Agent;
  /** From the parent up. */
  readonly ancestors: readonly string[];
}

const SWEEP_EVERY_MS = 60_000;
const BACK_OFF_FIRST_MS = 1000;
const BACK_OFF_MAX_MS = 60_000;

export function createReconciler(options: ReconcilerOptions): Reconciler {
  const { store, clock, limits, at, log } = options;
  const busy = new Map<string, { again: boolean }>();
  const failures = new Map<string, number>();
  const slots = options.pools((uid) => hint(uid));
  const timers = createTimers(clock.nowMs, (uid) => hint(uid));
  let sweep: NodeJS.Timeout | undefined;
  let started = false;
  let stopped = false;

  /** One look at a time per agent; a hint during a look means another look after it. */
  function hint(uid: string): void {
    // Calls come in before what an earlier server left has been ended; `start` looks at everybody.
    if (!started || stopped) return;
    const looking = busy.get(uid);
    if (looking) {
      looking.again = true;
      return;
    }
    const look = { again: false };
    busy.set(uid, look);
    reconcile(uid)
      .then(
        () => void (options.sessions().isStarting(uid) || failures.delete(uid)),
        (err: unknown) => comeBack(uid, err),
      )
      .finally(() => {
        busy.delete(uid);
        if (look.again) hint(uid);
      });
  }

  function comeBack(uid: string, err: unknown): void {
    const count = (failures.get(uid) ?? 0) + 1;
    failures.set(uid, count);
    const delayMs = Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** (count - 1));
    log.error({ err, uid, delayMs }, "could not bring an agent to where it should be");
    // Its own time may come first: a kill that is due does not wait for the next try at something else.
    timers.setAtLatest(uid, clock.nowMs() + delayMs);
  }

  async function reconcile(uid: string): Promise<void> {
    const seen = await decideTime(uid);
    if (seen === undefined) return;
    const { agent, ancestors } = seen;
    const { effect, wakeAtMs } = desired(agent, clock.nowMs(), limits);
    if (agent.turn !== undefined) await holdSlot(agent, ancestors, agent.turn.runId);
    else if (effect.type === "request-slot") slots.turnOver(uid);
    else slots.release(uid);
    timers.set(uid, wakeAtMs);
    options.sessions().keepStart(uid, agent.turn);
    await act(agent, ancestors, effect);
  }

  /** What time alone has brought about is committed first. */
  function decideTime(uid: string): Promise<Seen | undefined> {
    return options.agents().change("system", (stage) => {
      const value = stage.agent(uid);
      if (value === undefined) return undefined;
      const context = stage.contextOf(value.agent);
      stage.apply(timePassed(value.agent, context));
      return { agent: stage.require(uid).agent, ancestors: context.ancestors.map((above) => above.uid) };
    });
  }

  async function act(agent: Agent, ancestors: readonly string[], effect: DesiredEffect): Promise<void> {
    const sessions = options.sessions();
    const { uid } = agent;
    switch (effect.type) {
      case "nothing":
        return;
      case "request-slot":
        return takeSlot(agent, ancestors);
      case "run-turn":
        return sessions.run(agent, effect, effect.prompt);
      case "hold-turn":
        if (!sessions.isRunning(uid, effect)) await lose(uid, effect);
        return;
      case "cancel-turn":
        at("before-cancel");
        if (!sessions.cancel(uid, effect)) await lose(uid, effect);
        return;
      case "kill-turn":
        at("before-turn-kill");
        await sessions.end(uid, "kill");
        return lose(uid, effect);
      case "end-processes":
        if (agent.kill === undefined) return sessions.end(uid, "close");
        at("after-kill-mark");
        await sessions.end(uid, "kill");
        at("after-processes-ended");
        await commit(uid, (a, context) => processesEnded(a, context));
    }
  }

  async function takeSlot(agent: Agent, ancestors: readonly string[]): Promise<void> {
    const { uid } = agent;
    slots.request(await options.poolOf(agent), askerOf(agent, ancestors));
    if (!slots.holds(uid)) return;
    const fence = await commit(uid, (a, context) => slotGranted(a, context));
    at("after-slot-granted");
    if (fence === undefined) slots.release(uid);
    else await holdSlot(agent, ancestors, fence.runId);
  }

  async function holdSlot(agent: Agent, ancestors: readonly string[], run: number): Promise<void> {
    slots.hold(await options.poolOf(agent), askerOf(agent, ancestors), run);
  }

  /** The process that should be there is not. */
  async function lose(uid: string, fence: { runId: number; attempt: number }): Promise<void> {
    const error = { kind: "runner_lost", message: "the process beneath the turn is gone", retryable: true };
    const { runId, attempt } = fence;
    await commit(uid, (agent, context) =>
      turnLost(agent, { runId, attempt, loss: "outage", error }, context),
    );
  }

  function commit<R>(
    uid: string,
    decide: (agent: Agent, context: Parameters<typeof timePassed>[1]) => { reply: R },
  ) {
    return options.agents().change("system", (stage) => {
      const { agent } = stage.require(uid);
      return stage.apply(decide(agent, stage.contextOf(agent)) as never) as R;
    });
  }

  async function sweepAll(): Promise<void> {
    for (const uid of await store.unsettledAgents()) hint(uid);
  }

  return {
    hint,
    comeBack,
    slotWanted: () => stopped || slots.wanted,
    lendSlot: slots.lend,
    async start() {
      const broken = await store.brokenLogs();
      if (broken.length > 0)
        throw new Error(`the store lost events of ${broken.join(", ")}: restore a backup`);
      at("before-sweep");
      await options.sessions().sweep();
      for (const uid of await store.unsettledAgents()) {
        const seen = await decideTime(uid);
        // What this process does not hold was held by an earlier one: its turns go on as new attempts.
        if (seen?.agent.turn === undefined) continue;
        await lose(uid, seen.agent.turn);
        at("after-runner-lost");
        await holdSlot(seen.agent, seen.ancestors, seen.agent.turn.runId);
      }
      started = true;
      await sweepAll();
      sweep = setInterval(
        () => void sweepAll().catch((err) => log.error({ err }, "sweep failed")),
        SWEEP_EVERY_MS,
      );
    },
    async stop() {
      stopped = true;
      clearInterval(sweep);
      timers.stop();
      slots.stop();
      await options.sessions().stop();
    },
  };
}

/** Shares are counted by owner, within the tenant whose pool it is. */
function askerOf({ uid, key }: Agent, ancestors: readonly string[]): SlotAsker {
  return { uid, account: `${key.ownerProvider} ${key.account}`, ancestors };
}
