import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { DEFAULT_LIMITS } from "../../src/domain/agent/limits.js";
import { LIMIT_OPTIONS, limitText, variableOf } from "../../src/main/limits.js";
import { agentProcesses } from "../support/agent-processes.js";
import { type AgentCaller, assertFault, createAgentCaller, until } from "../support/agents.js";
import { configFrom } from "../support/process.js";
import { type Answer, startServer, type TestServer } from "../support/server.js";

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

/** A server with the limits that these flags make. */
async function limited(...flags: string[]): Promise<{ server: TestServer; agents: AgentCaller }> {
  const server = await startServer({ limits: configFrom(flags).limits });
  return { server, agents: createAgentCaller(server, server.adminKey) };
}

describe("the limits that flags set are kept", () => {
  let agents: AgentCaller;
  before(async () => {
    const counts = ["queued", "deferred", "tasks", "labels", "live-children"].map(
      (name) => `--max-${name}=1`,
    );
    const more = [
      "--max-path-length=3",
      "--max-live-subtree=2",
      "--max-live-agents=3",
      "--max-follow-up-id=4",
    ];
    ({ agents } = await limited(...counts, ...more, "--max-description=40", "--max-schema=1KiB"));
    await agents.spawn("root", "@sleep 60s");
    await agents.spawn("root/kid", "@ask what?");
    await agents.spawn("other", "@sleep 60s");
    await agents.queue("root", "first");
    await agents.queue("root", "first", { deliverAt: inAnHour() });
    await agents.wait("root/kid");
  });

  const rows: [row: string, ask: () => Promise<Answer>, status: number, reason: string, text: RegExp][] = [
    ["queued", () => agents.ask("queue", "root", { description: "second" }), 429, "QUEUE_FULL", /1/],
    [
      "deferred",
      () => agents.ask("queue", "root", { description: "second", deliverAt: inAnHour() }),
      429,
      "DEFERRED_FULL",
      /1/,
    ],
    [
      "tasks",
      () => agents.ask("queue", "other", { description: "x", tasks: [{ subject: "a" }, { subject: "b" }] }),
      429,
      "TASKS_FULL",
      /1/,
    ],
    [
      "labels",
      () => agents.ask("update", "root", { labels: { labels: { a: "1", b: "2" } } }),
      429,
      "LABELS_FULL",
      /1/,
    ],
    [
      "the length of a path",
      () => agents.ask("spawn", "a/b/c/d", { description: "x" }),
      400,
      "PATH_TOO_LONG",
      /3/,
    ],
    ["live children", () => agents.ask("spawn", "root/two", { description: "x" }), 429, "CHILDREN_FULL", /1/],
    [
      "a live tree",
      () => agents.ask("spawn", "root/kid/kid", { description: "x" }),
      429,
      "SUBTREE_FULL",
      /2/,
    ],
    ["live agents", () => agents.ask("spawn", "fourth", { description: "x" }), 429, "TENANT_FULL", /3/],
    [
      "a description",
      () => agents.ask("queue", "other", { description: "x".repeat(41) }),
      400,
      "FIELD_TOO_LONG",
      /40/,
    ],
    [
      "an output schema",
      () =>
        agents.ask("queue", "other", { description: "x", outputSchema: `{"title":"${"x".repeat(1024)}"}` }),
      400,
      "FIELD_TOO_LONG",
      /1 KiB|1024/,
    ],
    [
      "a followUpId",
      () => agents.ask("queue", "other", { description: "x", followUpId: "12345" }),
      400,
      "FIELD_TOO_LONG",
      /4/,
    ],
  ];
  for (const [row, ask, status, reason, text] of rows) {
    test(row, async () => assertFault(await ask(), status, reason, text));
  }

  test("an agent that ends makes room for another; a repeated request needs none", async () => {
    const more = { description: "@sleep 60s", requestId: "again" };
    await agents.get("kill", "other");
    await agents.wait("other");
    assert.equal((await agents.get("spawn", "fourth", more)).created, true);
    assert.equal((await agents.get("spawn", "fourth", more)).created, false);
    assertFault(await agents.ask("spawn", "fifth", { description: "x" }), 429, "TENANT_FULL");
  });
});

test("--turn-timeout ends a turn, and --idle-process the process of an agent at rest", async () => {
  const { server, agents } = await limited("--turn-timeout=700ms", "--idle-process=1ms");
  await agents.spawn("slow", "@sleep 60s");
  const { status } = await agents.wait("slow");
  assert.equal(status.lastTurn.outcome, "TURN_OUTCOME_TIMED_OUT");
  await until(
    "its process has ended",
    () => agentProcesses(server.dataDir),
    (pids) => pids.length === 0,
  );
});

test("--silence-timeout ends a turn that says nothing", async () => {
  const { agents } = await limited("--silence-timeout=700ms");
  await agents.spawn("silent", "@sleep 60s");
  assert.equal((await agents.wait("silent")).status.lastTurn.outcome, "TURN_OUTCOME_TIMED_OUT");
});

describe("limits as flags and variables", () => {
  test("without any, the defaults are as they were", () => {
    assert.deepEqual(configFrom([]).limits, DEFAULT_LIMITS);
  });
  test("a variable sets what its flag does, and the flag wins", () => {
    const env = { RETINUE_TURN_TIMEOUT: "3h", RETINUE_MAX_SCHEMA: "1MiB", RETINUE_MAX_QUEUED: "7" };
    const { turnMs, schemaBytes, queued } = configFrom(["--max-queued", "8"], env).limits;
    assert.deepEqual([turnMs, schemaBytes, queued], [3 * 3_600_000, 1024 * 1024, 8]);
  });
  for (const flag of ["--max-queued=0", "--max-queued=1.5", "--max-queued=-1", "--max-queued=10KiB"]) {
    test(`${flag} is refused`, () => assert.throws(() => configFrom([flag]), /whole number from 1/));
  }
  for (const flag of ["--turn-timeout=15", "--turn-timeout=2w", "--turn-timeout=0s", "--turn-timeout="]) {
    test(`${flag} is refused`, () => assert.throws(() => configFrom([flag]), /for example 90s, 15m or 2h/));
  }
  test("docs/limits.md lists each with its variable and its default", () => {
    const text = readFileSync(new URL("../../../docs/limits.md", import.meta.url), "utf8");
    for (const { limit, name, unit } of LIMIT_OPTIONS) {
      const row = text.split("\n").find((line) => line.includes(`\`--${name}\``)) ?? "";
      assert.ok(row.includes(`\`${variableOf(name)}\``), `${name}: ${row}`);
      assert.ok(row.includes(`| ${limitText(DEFAULT_LIMITS[limit], unit)} |`), `${name}: ${row}`);
    }
  });
});
