import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedProgram } from "../../src/runner/scripted/program.js";
import { assertFault, createAgentCaller } from "../support/agents.js";
import { encode, NO_AGENTS, rest, startServer } from "../support/server.js";

test("any program that speaks ACP runs the models whose documents name it", async () => {
  const { command, args } = scriptedProgram();
  const agents = {
    ...NO_AGENTS,
    commands: { mine: [command, ...args] },
    forAll: { MY_WORD: "from-outside", MY_API_KEY: "sk-0123456789" },
  };
  const server = await startServer({ agents });
  const put = (name: string, document: object) =>
    rest(server, server.adminKey, "POST", `/v1/catalog/model/${name}`, { payload: encode(document) });
  assert.equal((await put("mine", { backend: "BACKEND_A", program: "mine", modelId: "any" })).status, 200);
  assert.equal((await put("lost", { backend: "BACKEND_A", program: "nobody" })).status, 200);
  const caller = createAgentCaller(server, server.adminKey);
  await caller.spawn("custom", "@run echo $MY_WORD-$RETINUE_SECRET-$MY_API_KEY\n@complete ok", {
    model: "mine",
  });
  const { status } = await caller.wait("custom");
  assert.equal(status.result, "ok", JSON.stringify(status));
  assert.match(JSON.stringify(await caller.timeline("custom")), /from-outside--\*\*\*/);
  const lost = await caller.ask("spawn", "lost", { description: "x", model: "lost" });
  assertFault(lost, 400, "AGENT_NOT_INSTALLED", /--custom-agent nobody=COMMAND/);
});
