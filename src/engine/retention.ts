import type { Logger } from "pino";
import type { Store } from "../storage/store.js";
import { type Act, type Auditor, auditIdAt } from "./audit.js";
import type { Clock } from "./clock.js";

/** Forgets what is over: by itself after a while, and on demand. */
export interface Retention {
  /** Everything of a tenant from before these times; undefined: nothing of that sort. */
  purge(request: PurgeRequest): Promise<Purged>;
  /** Takes up what an earlier server left half done, then looks once an hour. */
  start(): void;
  stop(): Promise<void>;
}

export interface PurgeRequest {
  readonly tenant: string;
  readonly agentsBeforeMs: number | undefined;
  readonly auditBeforeMs: number | undefined;
  readonly act: Act;
}

export interface Purged {
  readonly agents: number;
  readonly auditRecords: number;
}

export interface RetentionOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly auditor: Auditor;
  /** Undefined: what is over stays. */
  readonly keepMs: number | undefined;
  /** Who the server is in its own audit. */
  readonly system: Act;
  readonly removeFolder: (uid: string) => Promise<void>;
  readonly log: Logger;
}

const HOUR_MS = 60 * 60 * 1000;
const REQUESTS_KEPT_MS = 2 * 24 * HOUR_MS;
/** Few enough that a commit of them holds nobody up. */
const AGENTS_AT_ONCE = 50;
const ROWS_AT_ONCE = 500;

export function createRetention(options: RetentionOptions): Retention {
  const { store, clock, auditor, keepMs, system, removeFolder, log } = options;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  let stopping = false;

  /** Removes, in steps, what is left of an agent that is not to be found any more. */
  async function finish(uid: string): Promise<void> {
    do await store.commit([{ type: "agentRowsGone", uid, limit: ROWS_AT_ONCE }]);
    while (!stopping && (await store.hasRows(uid)));
    if (stopping) return;
    await removeFolder(uid);
    await store.commit([{ type: "purged", uid }]);
  }

  /** Deepest first, so that a tree which is cut short by a crash still hangs together. */
  async function purgeTree(root: string): Promise<number> {
    const uids = await store.treeOf(root);
    for (let i = 0; i < uids.length && !stopping; i += AGENTS_AT_ONCE) {
      const some = uids.slice(i, i + AGENTS_AT_ONCE);
      await store.commit(some.map((uid) => ({ type: "agentGone", uid }) as const));
      for (const uid of some) await finish(uid);
    }
    return uids.length;
  }

  async function purgeAgents(tenant: string, beforeMs: number): Promise<number> {
    let gone = 0;
    for (;;) {
      const roots = stopping ? [] : await store.endedTrees(tenant, beforeMs, AGENTS_AT_ONCE);
      if (roots.length === 0) return gone;
      for (const root of roots) gone += await purgeTree(root);
    }
  }

  async function purgeAudit(tenant: string, beforeMs: number): Promise<number> {
    let gone = 0;
    for (;;) {
      const ids = stopping ? [] : await store.oldestAudit(tenant, auditIdAt(beforeMs), ROWS_AT_ONCE);
      const upToAuditId = ids.at(-1);
      if (upToAuditId === undefined) return gone;
      await store.commit([{ type: "auditGone", tenant, upToAuditId }]);
      gone += ids.length;
    }
  }

  async function purge({ tenant, agentsBeforeMs, auditBeforeMs, act }: PurgeRequest): Promise<Purged> {
    const agents = agentsBeforeMs === undefined ? 0 : await purgeAgents(tenant, agentsBeforeMs);
    const auditRecords = auditBeforeMs === undefined ? 0 : await purgeAudit(tenant, auditBeforeMs);
    if (agents + auditRecords > 0) {
      const target = `${agents} agents, ${auditRecords} audit records`;
      await store.commit([auditor.done(act, { tenant, target, generationBefore: 0, generationAfter: 0 })]);
    }
    return { agents, auditRecords };
  }

  async function sweep(): Promise<void> {
    for (const uid of await store.purging()) await finish(uid);
    const nowMs = clock.nowMs();
    await store.commit([{ type: "spawnRequestsGone", beforeMs: nowMs - REQUESTS_KEPT_MS }]);
    if (keepMs === undefined) return;
    const beforeMs = nowMs - keepMs;
    for (const tenant of await store.tenants()) {
      await purge({ tenant, agentsBeforeMs: beforeMs, auditBeforeMs: beforeMs, act: system });
    }
  }

  /** One at a time: two that go through the same trees would fail each other's commits. */
  function queue<R>(work: () => Promise<R>): Promise<R> {
    const result = running.then(work);
    running = result.catch(() => {});
    return result;
  }

  function sweepAndLog(): void {
    queue(sweep).catch((err: unknown) => log.error({ err }, "could not remove what is over"));
  }

  return {
    purge: (request) => queue(() => purge(request)),
    start() {
      sweepAndLog();
      timer = setInterval(sweepAndLog, HOUR_MS);
    },
    async stop() {
      stopping = true;
      clearInterval(timer);
      await running;
    },
  };
}
