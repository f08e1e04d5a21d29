import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Agent, Runtime } from "../../domain/agent/agent.js";
import { confinementText } from "../../domain/agent/confinement.js";
import type { Fence } from "../../domain/agent/turn.js";
import type { PermissionPolicy, Runner, Session, Surroundings } from "../../runner/runner.js";
import type { Change, Store } from "../../storage/store.js";
import type { Clock } from "../clock.js";
import type { AgentKeys } from "./agent-keys.js";
import type { AtFailpoint } from "./failpoints.js";
import type { Launch } from "./launch.js";
import type { SetUp, SetUpWorkspace } from "./set-up.js";

/** The processes beneath the agents: at most one each, kept warm between turns, known to the store while they live. */
export interface Processes {
  /**
   * The agent's process, made ready and started where there is none that serves the launch. Throws RunnerError; after
   * `signal` has fired, with nothing left of it.
   */
  open(agent: Agent, launch: Launch, signal: AbortSignal): Promise<Process>;
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
  readonly identity: string;
  readonly runtime: Pick<Runtime, "runnerId" | "build" | "isolation">;
  /** The attempt that its key speaks for. */
  bind(fence: Fence | undefined): void;
  /** Who answers the program's questions from now on. */
  decideBy(policy: PermissionPolicy): void;
  /** Whether these instructions have to be said: true once for each text that is new to the process. */
  tell(instructions: string): boolean;
  /** What to store with the usage that brings the program's own count to this: both or neither. */
  sessionAt(costSoFar: number): Change;
  /** Whether the session has ever told what it costs. */
  tellsCost(): boolean;
}

export interface ProcessesOptions {
  readonly runner: Runner;
  readonly store: Store;
  readonly clock: Clock;
  readonly keys: AgentKeys;
  readonly setUp: () => SetUp;
  /** Each agent's home and work folder lie below it, by uid. */
  readonly agentsFolder: string;
  /** What no agent may see. */
  readonly hide: readonly string[];
  readonly mcpUrl: () => string;
  readonly changed: (uid: string) => void;
  readonly at: AtFailpoint;
  readonly log: Logger;
}

/** For a program to end by itself when the server stops. */
const PART_MS = 2500;
const STOP_MS = 3000;

export function createProcesses(options: ProcessesOptions): Processes {
  const { runner, store, clock, keys, changed, at, log } = options;
  const open = new Map<string, Process>();
  /** Being ended; one that would not die stays here, to be ended again. */
  const ending = new Map<string, Process>();
  /** Lives of processes, from before the start to the record of the end: `stop` waits for them. */
  const lives = new Set<Promise<unknown>>();
  let stopped = false;

  async function start(agent: Agent, launch: Launch, signal: AbortSignal): Promise<Process> {
    const { uid } = agent;
    const token = `rtn-${clock.newId()}`;
    // Stored before it is started: whatever happens next, the token finds it.
    await store.commit([{ type: "process", row: { token, uid, startedAtMs: clock.nowMs() } }]);
    at("after-process-token-stored");
    const earlier = await store.session(uid);
    const key = keys.mint(agent);
    let policy: PermissionPolicy = () => "reject";
    let told = "";
    let session: Session;
    let workspace: SetUpWorkspace | undefined;
    try {
      const permit: PermissionPolicy = (request) => policy(request);
      const surroundings = surroundingsOf(agent, token);
      workspace = await options.setUp().open(agent, surroundings, signal);
      session = await runner.start({
        ...specOf(launch, key, earlier),
        ...workspace.surroundings,
        permit,
        signal,
      });
    } catch (error) {
      await workspace?.close();
      await gone(token, key);
      throw error;
    }
    const { close } = workspace;
    at("after-process-started");
    const row = {
      uid,
      sessionRef: session.sessionRef,
      costSoFar: session.resumed ? (earlier?.costSoFar ?? 0) : 0,
    };
    let costTold = row.costSoFar > 0;
    await store.commit([{ type: "session", row }]);
    at("after-session-ref-stored");
    const process: Process = {
      session,
      identity: launch.identity,
      runtime: { runnerId: "embedded", build: session.build, isolation: isolationOf(agent) },
      bind: (fence) => keys.bind(key, fence),
      decideBy(next) {
        policy = next;
      },
      tell(instructions) {
        const isNew = told !== instructions;
        told = instructions;
        return isNew;
      },
      tellsCost: () => costTold,
      sessionAt(costSoFar) {
        costTold ||= costSoFar > 0;
        return { type: "session", row: { ...row, costSoFar } };
      },
    };
    open.set(uid, process);
    const exited = session.exited.then(async () => {
      if (open.get(uid) === process) open.delete(uid);
      await close();
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

  function surroundingsOf({ uid, runtime: { confinement } }: Agent, processToken: string): Surroundings {
    const folder = join(options.agentsFolder, uid);
    const folders = { cwd: join(folder, "work"), home: join(folder, "home") };
    return { uid, ...folders, processToken, hide: options.hide, confinement };
  }

  function specOf(
    { program, settings, opening }: Launch,
    key: string,
    earlier: { sessionRef: string; costSoFar: number } | undefined,
  ) {
    return {
      program,
      ...opening,
      sessionRef: earlier?.sessionRef,
      costSoFar: earlier?.costSoFar,
      mcp: { url: options.mcpUrl(), key },
      settings,
    };
  }

  /** As it was started, which is as it was asked: the runner refuses what it cannot keep. */
  function isolationOf({ runtime: { confinement } }: Agent): string {
    return confinement ? confinementText(confinement) : runner.isolation;
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

  /** Politely first: programs write their sessions when their input ends, and the next server goes on with those. */
  async function part(uid: string): Promise<void> {
    await Promise.race([end(uid, "close"), sleep(PART_MS, undefined, { ref: false })]);
    await end(uid, "kill");
  }

  return {
    async open(agent, launch, signal) {
      const running = open.get(agent.uid);
      if (running?.identity === launch.identity) return running;
      // Some settings are read at the start only: the session goes on in a new process.
      if (running !== undefined) await end(agent.uid, "close");
      return follow(start(agent, launch, signal));
    },
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
      await Promise.allSettled([...open.keys()].map(part));
      // One that starts is ended once it has started; a start that hangs must not hold up the exit.
      await Promise.race([Promise.allSettled(lives), sleep(STOP_MS, undefined, { ref: false })]);
    },
  };
}
