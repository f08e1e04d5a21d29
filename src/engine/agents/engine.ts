import type { Logger } from "pino";
import type { Limits } from "../../domain/agent/limits.js";
import type { Programs } from "../../runner/programs.js";
import type { Runner } from "../../runner/runner.js";
import type { Workspaces } from "../../runner/workspaces.js";
import type { Schemas } from "../../schemas/schemas.js";
import type { Store } from "../../storage/store.js";
import type { Auditor } from "../audit.js";
import type { Secrets } from "../catalog/secrets.js";
import type { Clock } from "../clock.js";
import type { AdmitTenant } from "../tenancy.js";
import { type AgentKeys, createAgentKeys } from "./agent-keys.js";
import { type Agents, createAgents } from "./agents.js";
import { createCensus } from "./census.js";
import { createCleanUp } from "./clean-up.js";
import { type Commands, createCommands } from "./commands.js";
import { createDocuments } from "./documents.js";
import type { AtFailpoint } from "./failpoints.js";
import { createForwarder } from "./forwarder.js";
import { createHub, type Hub } from "./hub.js";
import { createLaunches } from "./launch.js";
import { createMasks } from "./masks.js";
import { createPools, type Pools } from "./pools.js";
import { createProcesses } from "./processes.js";
import { type AgentViews, createAgentViews } from "./reads.js";
import { createReconciler } from "./reconciler.js";
import { createSessions } from "./sessions.js";
import { createSetUp } from "./set-up.js";
import type { PoolLimits } from "./slots.js";
import type { Spawner } from "./spawn.js";
import { createWork, type Work } from "./work.js";

/** Pools as callers see them. */
export interface PoolViews {
  list(tenant: string): Promise<(PoolLimits & { name: string; held: number; waiting: number })[]>;
}

/** Everything that makes agents live. */
export interface AgentEngine {
  readonly agents: Agents;
  readonly commands: Commands;
  readonly hub: Hub;
  readonly keys: AgentKeys;
  readonly schemas: Schemas;
  readonly spawner: Spawner;
  readonly views: AgentViews;
  readonly work: Work;
  readonly pools: PoolViews;
  /** The agent's turn only waits for a child: its slot is for whoever below it wants one, until the answer is called. */
  lendSlot(uid: string): () => void;
  /** Takes up what an earlier server left, then every agent with something to do. */
  start(): Promise<void>;
  /** Suspends running turns; they go on at the next start. */
  stop(): Promise<void>;
}

export interface AgentEngineOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly auditor: Auditor;
  readonly runner: Runner;
  readonly workspaces: Workspaces;
  readonly secretValue: Secrets["secretValue"];
  readonly admit: AdmitTenant;
  readonly limits: Limits;
  readonly schemas: Schemas;
  readonly programs: Programs;
  readonly agentsFolder: string;
  readonly hide: readonly string[];
  /** Where agents find their tools, and people the server; known once it listens. */
  readonly mcpUrl: () => string;
  readonly publicUrl: () => string;
  readonly at: AtFailpoint;
  readonly log: Logger;
}

export function createAgentEngine(options: AgentEngineOptions): AgentEngine {
  const { store, clock, auditor, runner, workspaces, limits, schemas, at, log } = options;
  const documents = createDocuments(store);
  const launches = createLaunches(documents, options.programs);
  const hub = createHub();
  const masks = createMasks();
  const census = createCensus(store);
  const keys = createAgentKeys(clock);
  const held: { pools?: Pools } = {};
  const reconciler = createReconciler({
    store,
    clock,
    limits,
    pools: (granted) => {
      held.pools = createPools(granted);
      return held.pools;
    },
    async poolOf({ key: { tenant, workspace } }) {
      const { name, config } = await documents.poolOf(tenant, workspace);
      return { tenant, name, limits: config };
    },
    agents: () => agents,
    sessions: () => sessions,
    at,
    log,
  });
  const agents: Agents = createAgents({
    store,
    clock,
    limits,
    hub,
    census,
    masks,
    slotWanted: reconciler.slotWanted,
    changed: reconciler.hint,
    at,
  });
  const processes = createProcesses({
    runner,
    store,
    clock,
    keys,
    setUp: () => setUp,
    agentsFolder: options.agentsFolder,
    hide: options.hide,
    mcpUrl: options.mcpUrl,
    changed: reconciler.hint,
    at,
    log,
  });
  const forwarder = createForwarder({ store, clock, workspaces, log });
  const cleanUp = createCleanUp({ store, clock, workspaces, documents, log });
  const { agentsFolder, hide } = options;
  const work = createWork({ runner, workspaces, documents, clock, agentsFolder, hide });
  const setUp = createSetUp({
    workspaces,
    runner,
    documents,
    secretValue: options.secretValue,
    masks,
    store,
    clock,
    agents,
    pushed: forwarder.wake,
  });
  const sessions = createSessions({
    processes,
    store,
    agents,
    hub,
    launches,
    schemas,
    masks,
    failed: reconciler.comeBack,
    at,
    log,
  });

  return {
    agents,
    commands: createCommands({ agents, documents, launches, schemas, limits, store, auditor, clock }),
    hub,
    keys,
    schemas,
    spawner: {
      store,
      agents,
      documents,
      launches,
      schemas,
      auditor,
      clock,
      limits,
      census,
      admit: options.admit,
      runner,
    },
    views: createAgentViews({ store, documents, clock, publicUrl: options.publicUrl }),
    work,
    pools: {
      async list(tenant) {
        const none = { held: 0, waiting: 0 };
        return (await documents.pools(tenant)).map(({ name, config }) => {
          const { slots, slotsPerAccount, slotsPerTree } = config;
          return {
            name,
            slots,
            slotsPerAccount,
            slotsPerTree,
            ...(held.pools?.counts(tenant, name) ?? none),
          };
        });
      },
    },
    lendSlot: reconciler.lendSlot,
    async start() {
      await reconciler.start();
      forwarder.wake();
      cleanUp.start();
    },
    stop() {
      cleanUp.stop();
      forwarder.stop();
      return reconciler.stop();
    },
  };
}
