import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Agent, Runtime } from "../../domain/agent/agent.js";
import type { Fence } from "../../domain/agent/turn.js";
import type { AgentProgram, Runner, Session } from "../../runner/runner.js";
import type { Change, Store } from "../../storage/store.js";
import type { Clock } from "../clock.js";
import type { AgentKeys } from "./agent-keys.js";
import type { AtFailpoint } from "./failpoints.js";

/** The processes beneath the agents: at most one each, kept warm between turns, known to the store while they live. */
export interface Processes {
  /**
   * The agent's process, made ready and started where there is none. Throws RunnerError; after
   * `signal` has fired, with nothing left of it.
   */
  open(agent: Agent, signal: AbortSignal): Promise<Process>;
  find(uid: string): Process | undefined;
  /** Resolves when none of the agent's processes is left. */
  end(uid: string, how: "close" | "kill"): Promise<void>;
  /** Ends what an earlier server left running. */
  sweep(): Promise<void>;
  /** Ends everything; turns that were running go on at the next start. */
  stop(): Promise<void>;
  /** Tells whoever looks after the agent that its process has moved. */
  changed(uid: string): void;
}

export interface Process {
  readonly session: Session;
  /** Whether the program remembers earlier prompts of this agent. */
  readonly prompted: boolean;
  readonly runtime: Pick<Runtime, "runnerId" | "build" | "isolation">;
  /** The attempt that its key speaks for. */
  bind(fence: Fence | undefined): void;
  /** What to store with the usage that brings the program's own count to this: both or neither. */
  sessionAt(costSoFar: number): Change;
}

export interface ProcessesOptions {
  readonly runner: Runner;
  readonly store: Store;
  readonly clock: Clock;
  readonly keys: AgentKeys;
  readonly programOf: (model: string) => AgentProgram;
  /** Each agent's home and work folder lie below it, by uid. */
  readonly agentsFolder: string;
  /** What no agent may see. */
  readonly hide: readonly string[];
  readonly mcpUrl: () => string;
  readonly changed: (uid: string) => void;
  readonly at: AtFailpoint;
  readonly log: Logger;
}

const STOP_MS = 3000;

export function createProcesses(options: ProcessesOptions): Processes {
  const { runner, store, clock, keys, changed, at, log } = options;
  const open = new Map<string, Process>();
  /** Being ended; one that would not die stays here, to be ended again. */
  const ending = new Map<string, Process>();
  /** Lives of processes, from before the start to the record of the end: `stop` waits for them. */
  const lives = new Set<Promise<unknown>>();
  let stopped = false;

  async function start(agent: Agent, signal: AbortSignal): Promise<Process> {
    const { uid } = agent;
    const token = `rtn-${clock.newId()}`;
    // Stored before it is started: whatever happens next, the token finds it.
    await store.commit([{ type: "process", row: { token, uid, startedAtMs: clock.nowMs() } }]);
    at("after-process-token-stored");
    const earlier = await store.session(uid);
    const key = keys.mint(agent);
    let session: Session;
    try {
      session = await runner.start({ ...specOf(agent, token, key, earlier), signal });
    } catch (error) {
      await gone(token, key);
      throw error;
    }
    at("after-process-started");
    const row = {
      uid,
      sessionRef: session.sessionRef,
      costSoFar: session.resumed ? (earlier?.costSoFar ?? 0) : 0,
    };
    await store.commit([{ type: "session", row }]);
    at("after-session-ref-stored");
    const process: Process = {
      session,
      prompted: session.resumed,
      runtime: { runnerId: "embedded", build: session.build, isolation: runner.isolation },
      bind: (fence) => keys.bind(key, fence),
      sessionAt: (costSoFar) => ({ type: "session", row: { ...row, costSoFar } }),
    };
    open.set(uid, process);
    const exited = session.exited.then(async () => {
      if (open.get(uid) === process) open.delete(uid);
      at("before-process-gone");
      await gone(token, key);
      changed(uid);
    });
    follow(exited);
    if (stopped) await end(uid, "kill");
    return process;
  }

  function follow<T>(life: Promise<T>): Promise<T> {
    lives.add(life);
    const over = () => void lives.delete(life);
    life.then(over, over);
    return life;
  }

  function specOf(
    agent: Agent,
    processToken: string,
    key: string,
    earlier: { sessionRef: string; costSoFar: number } | undefined,
  ) {
    const { model, reasoningEffort, serviceTier, fastMode } = agent.settings.values;
    const folder = join(options.agentsFolder, agent.uid);
    return {
      uid: agent.uid,
      cwd: join(folder, "work"),
      home: join(folder, "home"),
      program: options.programOf(model),
      sessionRef: earlier?.sessionRef,
      costSoFar: earlier?.costSoFar,
      mcp: { url: options.mcpUrl(), key },
      settings: { model, reasoningEffort, serviceTier, fastMode },
      processToken,
      hide: options.hide,
    };
  }

  async function gone(token: string, key: string): Promise<void> {
    keys.forget(key);
    await store
      .commit([{ type: "processGone", token }])
      .catch((err: unknown) => log.warn({ err }, "could not record the end of a process"));
  }

  async function end(uid: string, how: "close" | "kill"): Promise<void> {
    const process = open.get(uid) ?? ending.get(uid);
    if (process === undefined) return;
    open.delete(uid);
    ending.set(uid, process);
    await process.session[how]();
    if (ending.get(uid) === process) ending.delete(uid);
  }

  return {
    open: async (agent, signal) => open.get(agent.uid) ?? follow(start(agent, signal)),
    find: (uid) => open.get(uid),
    end,
    changed,
    async sweep() {
      const rows = await store.processes();
      await runner.sweep(rows.map((row) => row.token));
      at("after-sweep");
      await store.commit(rows.map(({ token }) => ({ type: "processGone", token }) as const));
    },
    async stop() {
      stopped = true;
      await Promise.allSettled([...open.keys()].map((uid) => end(uid, "kill")));
      // One that starts is ended once it has started; a start that hangs must not hold up the exit.
      await Promise.race([Promise.allSettled(lives), sleep(STOP_MS, undefined, { ref: false })]);
    },
  };
}
