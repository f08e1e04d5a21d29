import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type AgentCaller, createAgentCaller, saidIn } from "../support/agents.js";
import { encode, rest, startServer, type TestServer } from "../support/server.js";

// biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of every shape
type Json = any;

let server: TestServer;
let agents: AgentCaller;
before(async () => {
  server = await startServer();
  agents = createAgentCaller(server, server.adminKey);
});

describe("talking to children", () => {
  test("a parent answers its child's question, and reads its result", async () => {
    const script = ["@spawn kid | @ask which colour?", "@await kid", "@message kid | @complete blue"];
    await agents.spawn("answers", [...script, "@await kid", "@children", "@complete done"].join("\n"));
    const { status } = await agents.wait("answers");
    assert.equal(status.result, "done");
    assert.equal(status.runCount, "1", "what the wait tool has told is no news");
    const said = saidIn(await agents.timeline("answers"));
    assert.match(said, /kid is WAITING_FOR_INPUT: which colour\?/);
    assert.match(said, /kid is COMPLETED: blue/);
    assert.match(said, /"name":"kid","phase":"PHASE_COMPLETED","result":"blue"/);
    const delivered = (await agents.timeline("answers/kid")).find(
      ({ type }) => type === "EVENT_TYPE_FOLLOW_UP_DELIVERED",
    );
    assert.equal(delivered.payload.followUp.followUp.sender, "agent answers");
  });

  test("the same spawn again in one run is the same child; another one under its name is refused", async () => {
    await agents.spawn(
      "repeats",
      "@spawn kid | @ask a?\n@spawn kid | @ask a?\n@spawn kid | @ask b?\n@ask more?",
    );
    await agents.wait("repeats");
    const events = await agents.timeline("repeats");
    assert.equal(events.filter(({ type }) => type === "EVENT_TYPE_CHILD_SPAWNED").length, 1);
    assert.equal(saidIn(events).match(/was refused/g)?.length, 1);
    assert.equal((await agents.wait("repeats/kid")).status.needsInput, "a?");
  });

  test("a child of an earlier incarnation is nobody's child any more", async () => {
    await agents.spawn("phoenix", "@spawn kid | @complete old\n@await kid\n@complete");
    await agents.wait("phoenix");
    await agents.spawn("phoenix", "@await kid\n@complete alone");
    assert.equal((await agents.wait("phoenix")).status.result, "alone");
    const said = saidIn(await agents.timeline("phoenix"));
    assert.match(said, /refused: no agent phoenix\/kid/);
  });

  test("a message to a child that is not there is refused, and the script goes on", async () => {
    await agents.spawn("calls-out", "@message nobody | hello\n@complete went on");
    assert.equal((await agents.wait("calls-out")).status.result, "went on");
    assert.match(saidIn(await agents.timeline("calls-out")), /refused: no agent calls-out\/nobody/);
  });
});

describe("what a child has from its parent", () => {
  test("owner, workspace, environment, model and effort; not the persona, and what the spawn says wins", async () => {
    const put = (kind: string, name: string, document: object) =>
      rest(server, server.adminKey, "POST", `/v1/catalog/${kind}/${name}`, { payload: encode(document) });
    for (const [kind, name] of [
      ["workspace", "site"],
      ["workspace", "other"],
      ["environment", "yard"],
      ["persona", "boss"],
    ] as const)
      assert.equal((await put(kind, name, {})).status, 200);
    const agentId = { agent: ["heir"], workspace: "site" };
    const settings = { model: "script-b", reasoningEffort: "low", environment: "yard", agent: "boss" };
    await agents.spawn("heir", "@spawn tool | @ask a?\n@ask b?", { agentId, ...settings });
    await agents.wait("heir");
    await agents.spawn("heir/call", "@ask c?");
    await agents.spawn("heir/own", "@ask d?", { model: "script-a", environment: "default" });
    const seen = async (path: string) => {
      const { status } = await agents.wait(path);
      const { agent, model, reasoningEffort, sources } = status.settings;
      return [status.agentId.workspace, agent, model, reasoningEffort, sources.model];
    };
    const inherited = ["site", "default", "script-b", "low", "SETTING_SOURCE_PARENT"];
    assert.deepEqual(await seen("heir/tool"), inherited);
    assert.deepEqual(await seen("heir/call"), inherited);
    assert.deepEqual(await seen("heir/own"), ["site", "default", "script-a", "low", "SETTING_SOURCE_SPAWN"]);
  });
});

describe("the bill", () => {
  const list = (path: string, more: object = {}) => agents.get("usage", path, more);

  test("is by run and attempt, sums up to the status, and survives a crash of the agent", async () => {
    await agents.spawn("pays", "@usage 10 1 2 0.5\n@crash\n@usage 20 2 4 0.25\n@ask more?");
    await agents.wait("pays");
    const { followUpId } = await agents.queue("pays", "@usage 1 1 1 0.125\n@ask more?", {
      model: "script-a",
    });
    const { status } = await agents.wait("pays", { followUpId });
    const { entries, total } = await list("pays");
    const bill = entries.map(({ runId, attempt, model, usage }: Json) => [runId, attempt, model, usage.cost]);
    assert.deepEqual(bill, [
      ["1", 1, "script-a", 0.5],
      ["1", 2, "script-a", 0.25],
      ["2", 1, "script-a", 0.125],
    ]);
    assert.deepEqual([total.cost, total.totalTokens], [status.cost, status.totalTokens]);
    assert.equal(total.cost, 0.875);
    const first = await list("pays", { pageSize: 2 });
    assert.equal(first.entries.length, 2);
    const second = await list("pays", { pageSize: 2, pageToken: first.nextPageToken });
    assert.deepEqual([second.entries.length, second.nextPageToken], [1, ""]);
  });

  test("a turn that fails has its price, and a child with a budget of its own is on its parent's bill", async () => {
    await agents.spawn("house", "@usage 1 0 0 1\n@ask more?");
    await agents.wait("house");
    const budget = { maxCostUsd: 100, maxTokens: 1000, maxTurns: 10 };
    await agents.spawn("house/room", "@usage 1 0 0 2\n@usage 1 0 0 4\n@ask more?", { budget });
    await agents.wait("house/room");
    assert.equal((await agents.status("house")).subtreeCost, 7, "while it lives");
    await agents.spawn("house/fire", "@usage 1 0 0 8\n@fail burnt");
    await agents.wait("house/fire");
    const { total } = await list("house", { includeDescendants: true });
    assert.equal(total.cost, 15);
    const { cost, subtreeCost } = await agents.status("house");
    assert.deepEqual([cost, subtreeCost], [1, 15]);
    assert.equal((await list("house")).total.cost, 1);
  });
});

describe("personas", () => {
  test("bring their tasks, and a switch takes exactly those away again", async () => {
    const persona = (name: string, id: string) =>
      rest(server, server.adminKey, "POST", `/v1/catalog/persona/${name}`, {
        payload: encode({ instructions: `You are a ${name}.`, tasks: [{ id, subject: `As a ${name}` }] }),
      });
    assert.equal((await persona("mason", "wall")).status, 200);
    assert.equal((await persona("roofer", "roof")).status, 200);
    const tasks = [{ id: "own", subject: "Of the caller" }];
    await agents.spawn("builder", "@ignore\n@ask what next?", { agent: "mason", tasks });
    const listed = async () => {
      const { status } = await agents.wait("builder");
      return status.tasks.map(({ id, persona: tag }: Json) => [id, tag]);
    };
    assert.deepEqual(await listed(), [
      ["own", ""],
      ["wall", "mason"],
    ]);
    await agents.queue("builder", "@ignore\n@ask what next?", { agent: "roofer" });
    assert.deepEqual(await listed(), [
      ["own", ""],
      ["roof", "roofer"],
    ]);
    assert.equal((await agents.status("builder")).settings.agent, "roofer");
  });
});

describe("slots", () => {
  test("eight parents that wait for children that wait for children get through a pool of eight", async () => {
    const crowded = await startServer();
    const caller = createAgentCaller(crowded, crowded.adminKey);
    const roots = Array.from({ length: 8 }, (_, i) => `root-${i}`);
    const script =
      "@spawn kid | @spawn leaf || @complete deep | @await leaf | @complete\n@await kid\n@complete";
    await Promise.all(roots.map((path) => caller.spawn(path, script)));
    for (const path of roots) {
      assert.equal((await caller.wait(path)).reason, "WAIT_REASON_COMPLETED");
      assert.equal((await caller.status(`${path}/kid/leaf`)).result, "deep");
    }
    await crowded.close(0);
  });
});
