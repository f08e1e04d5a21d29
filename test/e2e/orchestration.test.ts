import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type AgentCaller, createAgentCaller, saidIn } from "../support/agents.js";
import { rest, startServer, type TestServer } from "../support/server.js";

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

  test("a message to a child that is not there is refused, and the script goes on", async () => {
    await agents.spawn("calls-out", "@message nobody | hello\n@complete went on");
    assert.equal((await agents.wait("calls-out")).status.result, "went on");
    assert.match(saidIn(await agents.timeline("calls-out")), /refused: no agent calls-out\/nobody/);
  });
});

describe("what a child has from its parent", () => {
  test("owner, workspace, environment, model and effort; not the persona, and what the spawn says wins", async () => {
    const put = (kind: string, name: string, document: object) =>
      rest(server, server.adminKey, "POST", `/v1/catalog/${kind}/${name}`, {
        payload: Buffer.from(JSON.stringify(document)).toString("base64"),
      });
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
