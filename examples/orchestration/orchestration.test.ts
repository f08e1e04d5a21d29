import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import { type Duration, durationFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import { type Client, createClient } from "@connectrpc/connect";
import { Phase } from "../../gen/retinue/v1/agent_pb.js";
import { AgentService, WaitReason } from "../../gen/retinue/v1/agent_service_pb.js";
import { UsageService } from "../../gen/retinue/v1/usage_service_pb.js";
import { startRetinue } from "./server.js";

let agents: Client<typeof AgentService>;
let usage: Client<typeof UsageService>;
let stop: () => Promise<void>;

before(async () => {
  const server = await startRetinue();
  agents = createClient(AgentService, server.transport);
  usage = createClient(UsageService, server.transport);
  stop = server.stop;
});
after(() => stop());

const PATIENCE: Duration = durationFromMs(60_000);
const named = (...path: string[]) => ({ agent: path });

test("a lead delegates to two workers, and reports what came of it in the form that was asked for", async () => {
  const outputSchema = JSON.stringify({
    type: "object",
    required: ["reviewed"],
    properties: { reviewed: { type: "array", items: { type: "string" }, minItems: 2 } },
  });
  await agents.spawnAgent({
    agentId: named("lead"),
    outputSchema,
    budget: { maxCostUsd: 1 },
    // A model would be told in words; the embedded agent follows a script.
    description: [
      "@spawn api | @say reading the API | @usage 800 100 0 0.02 | @complete the API is sound",
      "@spawn docs | @say reading the docs | @usage 400 50 0 0.01 | @complete the docs lack an example",
      "@await api",
      "@await docs",
      '@output {"reviewed": ["api", "docs"]}',
      "@complete both were reviewed",
    ].join("\n"),
  });

  const { reason, status } = await agents.waitAgent({ agentId: named("lead"), timeout: PATIENCE });

  assert.equal(WaitReason[reason], "COMPLETED");
  assert.equal(status?.result, "both were reviewed");
  assert.deepEqual(status.structuredOutput && toJson(ValueSchema, status.structuredOutput), {
    reviewed: ["api", "docs"],
  });
  const docs = await agents.getAgentStatus({ agentId: named("lead", "docs") });
  assert.equal(docs.status?.result, "the docs lack an example");

  const bill = await usage.listUsage({ agentId: named("lead"), includeDescendants: true });
  assert.deepEqual(
    bill.entries.map(({ agentId, usage }) => [agentId?.agent.join("/"), usage?.cost]),
    [
      ["lead/api", 0.02],
      ["lead/docs", 0.01],
    ],
  );
  assert.equal(bill.total?.cost, status.subtreeCost);
});

test("a worker's question goes up to a person, and the answer comes back down", async () => {
  await agents.spawnAgent({
    agentId: named("painter"),
    description: "@spawn helper | @ask Which colour?",
  });

  const asked = await agents.waitAgent({ agentId: named("painter"), timeout: PATIENCE });
  assert.equal(WaitReason[asked.reason], "NEEDS_INPUT");
  assert.match(asked.status?.needsInput ?? "", /helper waits: Which colour\?/);

  await agents.queueFollowUp({
    agentId: named("painter"),
    description: "@message helper | @complete painted it blue\n@await helper\n@complete done",
  });
  const done = await agents.waitAgent({ agentId: named("painter"), timeout: PATIENCE });
  assert.equal(WaitReason[done.reason], "COMPLETED");
  const helper = await agents.getAgentStatus({ agentId: named("painter", "helper") });
  assert.equal(helper.status?.result, "painted it blue");
});

test("a whole tree is killed at once", async () => {
  await agents.spawnAgent({
    agentId: named("forest"),
    description: "@spawn tree | @spawn leaf || @sleep 1h | @await leaf\n@await tree",
  });
  const children = async () => {
    const listed = { parentId: named("forest"), includeDescendants: true, includeTerminal: true };
    return (await agents.listAgents(listed)).entries;
  };
  while ((await children()).length < 2) await new Promise((resolve) => setTimeout(resolve, 50));

  await agents.killAgent({ agentId: named("forest") });

  const { reason } = await agents.waitAgent({ agentId: named("forest"), timeout: PATIENCE });
  assert.equal(WaitReason[reason], "CANCELED");
  assert.ok((await children()).every(({ phase }) => phase === Phase.CANCELED));
});
