import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { FAILPOINTS, type Failpoint } from "../../src/engine/agents/failpoints.js";
import { agentProcesses } from "../support/agent-processes.js";
import { type AgentCaller, createAgentCaller, fateOf, until } from "../support/agents.js";
import { temporaryFolder } from "../support/folder.js";
import { configFrom, refusalOf, type ServeProgram, startProgram, startServe } from "../support/process.js";

/** What leads a server to a failpoint: what callers do, or nothing, since it gets there by taking up what it finds. */
type Lead = "by itself" | ((agents: AgentCaller) => Promise<unknown>);

const isRunning = (status: { turn?: { state: string } }) => status.turn?.state === "TURN_STATE_RUNNING";

/** A message on its way to its agent: each server dies one step further than the one before. */
const DELIVERY: Partial<Record<Failpoint, Lead>> = {
  "after-commit": (agents) => unanswered(agents.spawn("worker", "@ask go?")),
  "after-turn-ended-commit": "by itself",
  "after-slot-granted": async (agents) => {
    const { reason } = await agents.wait("worker");
    assert.equal(reason, "WAIT_REASON_NEEDS_INPUT");
    await unanswered(agents.queue("worker", "@complete done", { followUpId: "go" }));
  },
  "after-process-token-stored": "by itself",
  "after-process-started": "by itself",
  "after-session-ref-stored": "by itself",
  "after-prompt-sent-mark": "by itself",
  "after-prompt": "by itself",
  "before-turn-ended-commit": "by itself",
};

/** Agents that are stopped, crash or are killed, and what a start finds of them. */
const ENDING: Partial<Record<Failpoint, Lead>> = {
  "before-cancel": async (agents) => {
    await atWork(agents, "sleeper", "@sleep 60s");
    await unanswered(agents.get("stop-turn", "sleeper", { runId: "1" }));
  },
  "before-turn-kill": async (agents) => {
    assert.equal((await agents.wait("sleeper")).status.lastTurn.outcome, "TURN_OUTCOME_INTERRUPTED");
    await atWork(agents, "stubborn", "@hang");
    await unanswered(agents.get("stop-turn", "stubborn", { runId: "1", mode: "STOP_TURN_MODE_KILL" }));
  },
  "before-process-gone": async (agents) => {
    assert.equal((await agents.wait("stubborn")).status.lastTurn.outcome, "TURN_OUTCOME_KILLED");
    await unanswered(agents.spawn("crasher", "@crash\n@complete survived"));
  },
  "before-sweep": "by itself",
  "after-sweep": "by itself",
  "after-runner-lost": "by itself",
  "after-kill-mark": async (agents) => {
    assert.equal((await agents.wait("crasher")).status.result, "survived");
    await atWork(agents, "doomed", "@spawn kid | @sleep 60s\n@sleep 60s");
    await agents.until("doomed/kid", "at work", isRunning);
    await unanswered(agents.get("kill", "doomed"));
  },
  "after-processes-ended": "by itself",
};

async function atWork(agents: AgentCaller, path: string, description: string): Promise<void> {
  await agents.spawn(path, description);
  await agents.until(path, "at work", isRunning);
}

/** The server may die before it answers: what it was asked is committed nevertheless. */
function unanswered(answer: Promise<unknown>): Promise<unknown> {
  return answer.catch(() => undefined);
}

/** One server after the other on the same folder, each ended by its failpoint; then one that has none. */
async function walk(leads: Partial<Record<Failpoint, Lead>>): Promise<ServeProgram> {
  const dataDir = join(temporaryFolder(), "data");
  for (const [failpoint, lead] of Object.entries(leads)) {
    const env = { RETINUE_TEST_MODE: "1", RETINUE_FAILPOINTS: `${failpoint}=exit` };
    const exit = await (lead === "by itself" ? start(dataDir, env) : led(dataDir, env, lead));
    assert.equal(exit.signal, "SIGKILL", `${failpoint}: ${JSON.stringify(exit)}`);
  }
  return startServe({ dataDir });
}

async function start(dataDir: string, env: Record<string, string>) {
  const program = startProgram(["serve", "--port", "0", "--data", dataDir], { env });
  return { ...(await program.exited), said: program.stderr() };
}

async function led(dataDir: string, env: Record<string, string>, lead: (agents: AgentCaller) => unknown) {
  const server = await startServe({ dataDir, env });
  const died = server.exited.then(() => "died");
  await Promise.race([died, lead(createAgentCaller(server, server.adminKey))]);
  return { ...(await server.exited), said: server.stderr() };
}

async function noProcessIsLeft({ dataDir }: ServeProgram): Promise<void> {
  await until(
    "no process is left",
    () => agentProcesses(dataDir),
    (pids) => pids.length === 0,
  );
}

describe("a server that dies between a commit and its effect", {
  concurrency: true,
  timeout: 280_000,
}, () => {
  test("every failpoint is walked", () => {
    assert.deepEqual([...Object.keys(DELIVERY), ...Object.keys(ENDING)].sort(), [...FAILPOINTS].sort());
  });

  test("delivers its messages all the same, each once, and counts an attempt per death", async () => {
    const server = await walk(DELIVERY);
    const agents = createAgentCaller(server, server.adminKey);
    const { reason, status } = await agents.wait("worker");
    assert.equal(reason, "WAIT_REASON_COMPLETED", JSON.stringify(status));
    assert.deepEqual([status.result, status.runCount], ["done", "2"]);
    const events = await agents.timeline("worker");
    assert.deepEqual(fateOf(events, "go"), ["QUEUED", "DELIVERED"]);
    const ends = events.filter(({ type }) => type === "EVENT_TYPE_TURN_ENDED");
    assert.deepEqual(
      ends.map(({ runId, attempt }) => [runId, attempt]),
      [
        ["1", 1],
        // It died seven times with this turn held, from the grant of its slot on.
        ["2", 8],
      ],
    );
    await noProcessIsLeft(server);
  });

  test("stops, kills and takes up what it was about to, and leaves no process", async () => {
    const server = await walk(ENDING);
    const agents = createAgentCaller(server, server.adminKey);
    for (const path of ["doomed", "doomed/kid"]) {
      assert.equal((await agents.wait(path)).reason, "WAIT_REASON_CANCELED", path);
    }
    for (const path of ["sleeper", "stubborn", "crasher", "doomed", "doomed/kid"])
      await agents.timeline(path);
    await noProcessIsLeft(server);
  });
});

describe("RETINUE_FAILPOINTS", () => {
  test("is refused outside tests", async () => {
    const refusal = await refusalOf([], { RETINUE_FAILPOINTS: "before-sweep=exit" });
    assert.match(refusal, /needs RETINUE_TEST_MODE=1/);
  });
  test("names the points there are", async () => {
    const env = { RETINUE_TEST_MODE: "1", RETINUE_FAILPOINTS: "before-sweep=exit,before-lunch=exit" };
    assert.match(await refusalOf([], env), /before-lunch=exit must be one of before-sweep, after-sweep/);
  });
  test("takes several", () => {
    const env = { RETINUE_TEST_MODE: "1", RETINUE_FAILPOINTS: "before-sweep=exit,after-commit=exit" };
    assert.deepEqual([...configFrom([], env).failpoints], ["before-sweep", "after-commit"]);
  });
});
