import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_LIMITS, type Limits } from "../../src/domain/agent/limits.js";
import { agentProcesses } from "../support/agent-processes.js";
import { assertFault, createAgentCaller, saidIn, until } from "../support/agents.js";
import { rest, startServer } from "../support/server.js";

// biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of every shape
type Json = any;

async function start(limits: Partial<Limits> = {}) {
  const server = await startServer({ limits: { ...DEFAULT_LIMITS, ...limits } });
  const agents = createAgentCaller(server, server.adminKey);
  /** Everything below the agent, in one listing: path without the root, and phase without its prefix. */
  async function below(root: string): Promise<Map<string, string>> {
    const body = { parentId: { agent: [root] }, includeDescendants: true, includeTerminal: true };
    const answer = await rest(server, server.adminKey, "POST", "/v1/agents", body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return new Map(
      answer.body.entries.map(({ agentId, phase }: Json) => [
        agentId.agent.slice(1).join("/"),
        phase.replace("PHASE_", ""),
      ]),
    );
  }
  return { server, agents, below };
}

/** A script as the child of an agent writes it: every bar doubled. */
const nested = (script: string) => script.replaceAll("|", "||").replaceAll("\n", " | ");
const spawn = (name: string, ...lines: string[]) => `@spawn ${name} | ${nested(lines.join("\n"))}`;

/** What an agent was told of its children, in order. */
const newsOf = (events: readonly Json[]): string[] =>
  events
    .filter(({ type, payload }) => type === "EVENT_TYPE_FOLLOW_UP_QUEUED" && payload.followUp)
    .map(({ payload }) => payload.followUp.followUp)
    .filter(({ sender }: Json) => sender === "platform")
    .map(({ description }: Json) => description);

test("five children, each three deep, some asking, some failing: all news reach the right parent", async () => {
  const { server, agents, below } = await start();
  const script = [
    spawn(
      "fine",
      spawn("b", spawn("c", "@complete c is fine"), "@await c", "@complete b"),
      "@await b",
      "@complete a",
    ),
    spawn("asks", spawn("b", spawn("c", "@ask c wants to know"))),
    spawn("fails", spawn("b", spawn("c", "@fail c is broken"))),
    spawn(
      "answers",
      spawn("b", spawn("c", "@complete c was quick"), "@await c", "@ask b wants to know"),
      "@await b",
      "@message b | @complete b knows",
      "@await b",
      "@complete a",
    ),
    spawn("falls", spawn("b", spawn("c", "@sleep 60s"), "@fail b is broken")),
  ];
  await agents.spawn("root", script.join("\n"));
  const quiet = { fine: "COMPLETED", fails: "COMPLETED", answers: "COMPLETED", falls: "COMPLETED" };
  await until(
    "all have come to rest",
    async () => [...(await below("root"))],
    (seen) => {
      const phases = new Map(seen);
      const ended = Object.entries(quiet).every(([name, phase]) => phases.get(name) === phase);
      return ended && phases.get("asks") === "WAITING_FOR_INPUT";
    },
  );
  const phases = await below("root");
  assert.equal(phases.size, 15);
  assert.deepEqual(
    ["fails/b/c", "fails/b", "falls/b", "falls/b/c", "asks/b/c"].map((path) => phases.get(path)),
    ["FAILED", "COMPLETED", "FAILED", "CANCELED", "WAITING_FOR_INPUT"],
  );
  const news = async (path: string) => newsOf(await agents.timeline(path));
  assert.deepEqual(await news("root/asks/b"), ["child c asks: c wants to know"]);
  assert.deepEqual(await news("root/asks"), ["child b waits: child c waits: c wants to know"]);
  assert.deepEqual(await news("root/fails/b"), ["child c failed: c is broken"]);
  assert.deepEqual(await news("root/falls"), ["child b failed: b is broken"]);
  assert.match((await news("root/fails"))[0] ?? "", /^child b completed/);
  for (const path of ["root/fine/b", "root/fine"]) {
    assert.equal((await agents.status(path)).runCount, "1", `${path}: what was awaited is no news`);
  }
  assert.match(saidIn(await agents.timeline("root/answers")), /b is COMPLETED: b knows/);
  // Of the children that have ended the root has been told, each once, and of nobody else's.
  const told = async () =>
    (await news("root")).map((text) => text.split(" ").slice(0, 3).join(" ").replace(/:$/, ""));
  const all = [...Object.keys(quiet).map((name) => `child ${name} completed`), "child asks waits"];
  assert.deepEqual((await told()).sort(), all.sort());

  await agents.queue("root/asks/b/c", "@complete c knows");
  await until("the answer has gone all the way up", told, (seen) => seen.includes("child asks completed"));
  assert.deepEqual((await news("root/asks/b")).at(-1), "child c completed: c knows");
  assert.equal((await agents.wait("root")).reason, "WAIT_REASON_NEEDS_INPUT");
  await server.close(0);
});

test("killed while its tree grows: every phase CANCELED in one listing, every process gone, nothing grows on", async () => {
  const { server, agents, below } = await start();
  const branch = (name: string) => spawn(name, spawn("b", spawn("c", "@sleep 60s"), "@await c"), "@await b");
  await agents.spawn("root", ["a1", "a2", "a3", "a4", "a5"].map(branch).join("\n"));
  await until(
    "it grows",
    () => below("root"),
    (seen) => seen.size >= 3,
  );
  await agents.get("kill", "root");
  const marked = await below("root");
  assert.deepEqual(
    [...marked.values()].filter((phase) => !/STOPPING|CANCELED/.test(phase)),
    [],
  );
  assertFault(await agents.ask("spawn", "root/late", { description: "x" }), 400, "PARENT_STOPPING");
  assert.equal((await agents.wait("root")).reason, "WAIT_REASON_CANCELED");
  const ended = await below("root");
  assert.deepEqual(new Set(ended.values()), new Set(["CANCELED"]));
  assert.deepEqual([...ended.keys()], [...marked.keys()], "nothing was spawned after the kill");
  assert.deepEqual(await agentProcesses(server.dataDir), []);
  await server.close(0);
});

test("a kill against many spawns at once: each is in the tree that ends, or refused", async () => {
  const { server, agents, below } = await start();
  // Nobody starts within this test: only the commits matter here.
  const later = { description: "x", startAt: new Date(Date.now() + 3_600_000).toISOString() };
  const ask = (path: string) => agents.ask("spawn", path, later);
  await ask("root");
  await Promise.all(["a", "b", "c"].map((name) => ask(`root/${name}`)));
  const spawns = ["a", "b", "c"].flatMap((name) =>
    Array.from({ length: 12 }, (_, i) => ask(`root/${name}/${i}`).then(() => ask(`root/${name}/${i}/leaf`))),
  );
  const [answers] = await Promise.all([Promise.all(spawns), agents.get("kill", "root")]);
  for (const { status, body } of answers) {
    const reason = body.details?.[0].reason;
    if (status !== 200) assert.match(reason, /^PARENT_(STOPPING|TERMINAL|NOT_FOUND)$/, JSON.stringify(body));
  }
  assert.equal((await agents.wait("root")).reason, "WAIT_REASON_CANCELED");
  assert.deepEqual(new Set((await below("root")).values()), new Set(["CANCELED"]));
  await server.close(0);
});

test("a runaway is stopped by limits and by its budget, and its bill is the sum of the ledger", async () => {
  const { server, agents, below } = await start({ liveChildren: 6, liveSubtree: 9 });
  const own = "@usage 100 10 1 0.3";
  const children = Array.from({ length: 8 }, (_, i) => spawn(`k${i}`, spawn("x", own), own, "@sleep 60s"));
  await agents.spawn("runaway", [own, ...children, "@sleep 60s"].join("\n"), { budget: { maxCostUsd: 1 } });
  const held = await agents.until("runaway", "held by its budget", ({ phase, needsInput }) => {
    return phase === "PHASE_WAITING_FOR_INPUT" && /budget spent/.test(needsInput);
  });
  assert.equal(held.lastTurn.outcome, "TURN_OUTCOME_OVER_BUDGET");
  assert.match(saidIn(await agents.timeline("runaway")), /refused: .*(live children|live agents)/);
  const seen = await until(
    "all of them are held",
    () => below("runaway"),
    (phases) => [...phases.values()].every((phase) => phase === "WAITING_FOR_INPUT" || phase === "COMPLETED"),
  );
  assert.ok([...seen.keys()].filter((path) => !path.includes("/")).length <= 6, "no more than six children");
  const more = await agents.ask("spawn", "runaway/more", { description: "x" });
  assert.equal(more.body.code, 8, JSON.stringify(more.body));
  const { total, entries } = await agents.get("usage", "runaway", { includeDescendants: true });
  const { subtreeCost, cost } = await agents.status("runaway");
  assert.equal(total.cost, subtreeCost);
  assert.ok(subtreeCost > 1 && subtreeCost < 1 + 0.3 * 9, `${subtreeCost}`);
  assert.equal(cost, 0.3);
  assert.equal(new Set(entries.map(({ agentId }: Json) => agentId.uid)).size, entries.length);
  await server.close(0);
});
