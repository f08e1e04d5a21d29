import type { Victim } from "./victim.js";

// biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of every shape
type Json = any;

/** What the server has acknowledged of one agent; everything in it must be true for ever. */
export interface Account {
  readonly path: string;
  readonly uid: string;
  /** Accepted messages. */
  readonly followUps: Set<string>;
  /** Messages that were said to be removed, or cleared by a preempt. */
  readonly removed: Set<string>;
  readonly cleared: Set<string>;
  /** How many `clear-follow-ups` have counted in all. */
  clears: number;
  /** Tasks that were said to be created. */
  readonly tasks: Set<string>;
  killed: boolean;
  /** Nothing has been done to it since the last full check. */
  clean: boolean;
}

/** What was acknowledged, and whether it is there. */
export interface Ledger {
  readonly size: number;
  readonly agents: Account[];
  spawned(path: string, uid: string): void;
  wrote(kind: string, name: string, generation: number): void;
  /** Counts an acknowledgement. */
  noted(account: Account): void;
  /** Violations, each a sentence. Only agents that were touched since the last check, or every one. */
  check(victim: Victim, options?: { readonly everything: boolean }): Promise<string[]>;
  /** Agents that are neither at rest nor ended. */
  moving(victim: Victim): Promise<string[]>;
  /** Kills what still lives and waits for its end. */
  killAll(victim: Victim): Promise<string[]>;
}

const RESTS = ["PHASE_WAITING_FOR_INPUT", "PHASE_COMPLETED", "PHASE_FAILED", "PHASE_CANCELED"];
const ENDS = ["PHASE_COMPLETED", "PHASE_FAILED", "PHASE_CANCELED"];

export function createLedger(): Ledger {
  const agents: Account[] = [];
  const generations = new Map<string, number>();
  let size = 0;

  const idOf = ({ path, uid }: Account) => ({ agent: path.split("/"), uid });

  async function read(victim: Victim, operation: string, account: Account, more: object = {}): Promise<Json> {
    const answer = await victim.post(`/v1/agent/${operation}`, { agentId: idOf(account), ...more });
    if (answer?.status === 200) return answer.body;
    throw new Error(`${account.path}: ${operation} answered ${JSON.stringify(answer)}`);
  }

  async function eventsOf(victim: Victim, account: Account): Promise<Json[]> {
    const events: Json[] = [];
    for (;;) {
      const page = await read(victim, "timeline", account, { afterSeq: events.length, pageSize: 200 });
      events.push(...page.events);
      if (!page.hasMore) return events;
    }
  }

  async function checkAgent(victim: Victim, account: Account): Promise<string[]> {
    const broken: string[] = [];
    const must = (holds: boolean, rule: string) => void (holds || broken.push(`${account.path}: ${rule}`));
    const events = await eventsOf(victim, account);
    const status = await read(victim, "status", account);
    for (const [i, { seq }] of events.entries()) must(Number(seq) === i + 1, `seq ${seq} stands at ${i + 1}`);
    const fates = new Map<string, string[]>();
    for (const { type, payload } of events) {
      const id = payload.followUp?.followUp?.followUpId;
      if (id === undefined) continue;
      fates.set(id, [...(fates.get(id) ?? []), String(type).replace("EVENT_TYPE_FOLLOW_UP_", "")]);
    }
    for (const [id, fate] of fates) {
      const ends = fate.filter((state) => ["DELIVERED", "CLEARED", "REMOVED"].includes(state));
      must(ends.length <= 1, `${id} went through ${fate}`);
    }
    for (const id of account.followUps) must(fates.has(id), `the accepted message ${id} is lost`);
    for (const id of account.removed)
      must(fates.get(id)?.at(-1) === "REMOVED", `${id} was removed: ${fates.get(id)}`);
    for (const id of account.cleared)
      must(fates.get(id)?.at(-1) === "CLEARED", `${id} was cleared: ${fates.get(id)}`);
    const cleared = [...fates.values()].filter((fate) => fate.at(-1) === "CLEARED").length;
    must(
      cleared >= account.clears + account.cleared.size,
      `${account.clears} were cleared, the log has ${cleared}`,
    );
    const created = new Set(events.map(({ payload }) => payload.task?.id));
    for (const id of account.tasks) must(created.has(id), `the task ${id} is lost`);
    if (account.killed)
      must(["PHASE_STOPPING", "PHASE_CANCELED"].includes(status.phase), `killed, but ${status.phase}`);
    const last = events.at(-1)?.payload.phase?.to;
    if (ENDS.includes(status.phase))
      must(last === status.phase, `${status.phase}, but the log ends with ${last}`);
    return broken;
  }

  async function checkCatalog(victim: Victim): Promise<string[]> {
    const broken: string[] = [];
    for (const [key, generation] of generations) {
      // A write of what is there already changes nothing and tells the generation.
      const answer = await victim.post(`/v1/catalog/${key}`, {
        payload: Buffer.from(JSON.stringify({ displayName: "probe" })).toString("base64"),
      });
      const now = Number(answer?.body.generation ?? 0);
      if (now < generation) broken.push(`${key} was at generation ${generation} and is at ${now}`);
      generations.set(key, now);
    }
    return broken;
  }

  return {
    agents,
    get size() {
      return size;
    },
    spawned(path, uid) {
      size += 1;
      const sets = { followUps: new Set<string>(), removed: new Set<string>(), cleared: new Set<string>() };
      agents.push({ path, uid, ...sets, tasks: new Set(), clears: 0, killed: false, clean: false });
    },
    wrote(kind, name, generation) {
      size += 1;
      const key = `${kind}/${name}`;
      generations.set(key, Math.max(generations.get(key) ?? 0, generation));
    },
    noted(account) {
      size += 1;
      account.clean = false;
    },
    async check(victim, { everything } = { everything: false }) {
      const broken = await checkCatalog(victim);
      for (const account of agents.filter(({ clean }) => everything || !clean)) {
        account.clean = true;
        broken.push(...(await checkAgent(victim, account).catch((error: Error) => [error.message])));
      }
      return broken;
    },
    async moving(victim) {
      const found: string[] = [];
      for (const account of agents) {
        const { phase, turn, pendingReason, followUps } = await read(victim, "status", account);
        if (!RESTS.includes(phase)) {
          found.push(
            `${account.path} (${account.uid}) ${JSON.stringify({ phase, turn, pendingReason, followUps })}`,
          );
        }
      }
      return found;
    },
    async killAll(victim) {
      const broken: string[] = [];
      // Spawns that nobody heard of again have made agents too; their idle processes are rightly there.
      for (const { agentId } of (await victim.post("/v1/agents", {}))?.body.entries ?? []) {
        await victim.post("/v1/agent/kill", { agentId });
        await victim.post("/v1/agent/wait", { agentId, timeout: "60s" });
      }
      for (const account of agents) {
        await victim.post("/v1/agent/kill", { agentId: { agent: account.path.split("/") } });
        const { reason } = await read(victim, "wait", account, { timeout: "60s" });
        if (reason === "WAIT_REASON_TIMEOUT" || reason === "WAIT_REASON_NEEDS_INPUT") {
          broken.push(`${account.path}: killed, and its wait ended with ${reason}`);
        }
      }
      return broken;
    },
  };
}
