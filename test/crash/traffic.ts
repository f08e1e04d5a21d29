import type { Account, Ledger } from "./ledger.js";
import type { Random } from "./random.js";
import type { Victim } from "./victim.js";

/** Clients that do at random whatever a caller may do, and note what was acknowledged. */
export interface Traffic {
  /** Runs until `stop`, or until the server is gone. */
  client(number: number): Promise<void>;
  stop(): void;
}

export interface TrafficOptions {
  readonly round: number;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly victim: Victim;
}

const SCRIPTS = [
  "@say a\n@sleep 300ms\n@say b",
  "@ask what now?",
  "@sleep 100ms\n@complete done",
  "nothing in particular",
  "@say x\n@sleep 1s\n@ask and?",
  "@spawn kid | @sleep 200ms | @complete grown\n@await kid\n@ask more?",
  "@run sleep 0.2\n@say slept",
];
/** Each live agent holds a process; more of them would measure the machine. */
const MAX_AGENTS_A_ROUND = 3;

export function createTraffic({ round, random, ledger, victim }: TrafficOptions): Traffic {
  let stopped = false;
  let agentsMade = 0;
  let counter = 0;
  const isOver = () => stopped;

  async function spawn(): Promise<boolean> {
    if (agentsMade >= MAX_AGENTS_A_ROUND) return write();
    agentsMade += 1;
    counter += 1;
    const path = `r${round}-${counter}`;
    const answer = await victim.post("/v1/agent/spawn", {
      agentId: { agent: [path] },
      description: random.pick(SCRIPTS),
      ...(random.chance(0.3) ? { requestId: path } : {}),
    });
    if (answer?.status === 200) ledger.spawned(path, answer.body.agentId.uid);
    return answer !== undefined;
  }

  async function queue(account: Account): Promise<boolean> {
    counter += 1;
    const followUpId = `f${round}-${counter}`;
    const kind = random.below(4);
    const body = {
      followUpId,
      description: random.pick(SCRIPTS),
      ...(kind === 0 ? { preempt: true } : {}),
      ...(kind === 1 ? { deliverAt: new Date(Date.now() + 100 + random.below(4000)).toISOString() } : {}),
      ...(kind === 2 ? { reasoningEffort: random.pick(["low", "high"]) } : {}),
    };
    const answer = await post("queue", account, body);
    if (answer?.status === 200) {
      account.followUps.add(followUpId);
      for (const id of answer.body.clearedIds) account.cleared.add(id);
      ledger.noted(account);
    }
    return answer !== undefined;
  }

  async function remove(account: Account): Promise<boolean> {
    const followUpId = random.pick([...account.followUps, "none"]);
    const answer = await post("queue/remove", account, { followUpId });
    if (answer?.status === 200 && answer.body.removed) {
      account.removed.add(followUpId);
      ledger.noted(account);
    }
    return answer !== undefined;
  }

  async function clear(account: Account): Promise<boolean> {
    const answer = await post("clear-follow-ups", account, {});
    if (answer?.status === 200) {
      account.clears += answer.body.cleared;
      ledger.noted(account);
    }
    return answer !== undefined;
  }

  async function stopTurn(account: Account): Promise<boolean> {
    const status = await post("status", account, {});
    const runId = status?.body.turn?.runId;
    if (runId === undefined) return status !== undefined;
    const mode = random.chance(0.3) ? "STOP_TURN_MODE_KILL" : "STOP_TURN_MODE_INTERRUPT";
    const answer = await post("stop-turn", account, { runId, mode });
    if (answer?.status === 200) ledger.noted(account);
    return answer !== undefined;
  }

  async function kill(account: Account): Promise<boolean> {
    const before = await post("status", account, {});
    if (before === undefined) return false;
    const answer = await post("kill", account, {});
    if (answer?.status !== 200) return answer !== undefined;
    // One that had ended by then stays as it ended.
    const after = await post("status", account, {});
    const ended = ["PHASE_COMPLETED", "PHASE_FAILED"].includes(after?.body.phase);
    if (after !== undefined && !ended) account.killed = true;
    ledger.noted(account);
    return after !== undefined;
  }

  async function addTask(account: Account): Promise<boolean> {
    counter += 1;
    const id = `t${round}-${counter}`;
    const answer = await post("tasks/create", account, { tasks: [{ id, subject: `Task ${id}` }] });
    if (answer?.status === 200) {
      account.tasks.add(id);
      ledger.noted(account);
    }
    return answer !== undefined;
  }

  async function write(): Promise<boolean> {
    counter += 1;
    const name = `w${random.below(3)}`;
    const displayName = `${round}-${counter}`;
    const answer = await victim.post(`/v1/catalog/environment/${name}`, {
      payload: Buffer.from(JSON.stringify({ displayName })).toString("base64"),
    });
    if (answer?.status === 200) ledger.wrote("environment", name, Number(answer.body.generation));
    return answer !== undefined;
  }

  function post(operation: string, { path, uid }: Account, body: object) {
    return victim.post(`/v1/agent/${operation}`, { agentId: { agent: path.split("/"), uid }, ...body });
  }

  function act(): Promise<boolean> {
    const recent = ledger.agents.slice(-8);
    if (recent.length === 0) return spawn();
    const account = random.pick(recent);
    const dice = random.below(100);
    if (dice < 15) return spawn();
    if (dice < 60) return queue(account);
    if (dice < 68) return remove(account);
    if (dice < 72) return clear(account);
    if (dice < 80) return stopTurn(account);
    if (dice < 82) return kill(account);
    if (dice < 90) return addTask(account);
    return write();
  }

  return {
    async client() {
      while (!isOver() && (await act())) {}
    },
    stop() {
      stopped = true;
    },
  };
}
