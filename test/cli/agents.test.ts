import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type AgentCaller, createAgentCaller, saidIn } from "../support/agents.js";
import { type CliRunner, cliOf } from "../support/cli.js";
import { freePort } from "../support/free-port.js";
import { printed } from "../support/process.js";
import { startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let agents: AgentCaller;
let retinue: CliRunner;

before(async () => {
  server = await startServer();
  agents = createAgentCaller(server, server.adminKey);
  retinue = cliOf(server, server.adminKey);
});

describe("retinue, piped", { concurrency: 2 }, () => {
  test("spawn --follow tells every event as a plain line, and exits 12 with the question", async () => {
    const script = "@spawn kid | @say from below | @complete grown\n@await kid\n@ask which colour?";
    const { code, stdout } = await retinue(
      "spawn",
      "asker",
      script,
      "--follow",
      "-t",
      "paint=Paint the shed",
    );
    assert.equal(code, 12);
    assert.match(stdout, /^\d\d:\d\d:\d\d {2}asker {2}☐ Paint the shed \(pending\)$/m);
    assert.match(stdout, /^\d\d:\d\d:\d\d {2}asker\/kid .*completed$/m);
    assert.match(stdout, /from below/);
    assert.match(
      stdout,
      /^\? asker waiting for input: which colour\?\n {2}→ answer with: retinue send asker TEXT$/m,
    );
    // biome-ignore lint/suspicious/noControlCharactersInRegex: there must be none
    assert.doesNotMatch(stdout, /\u001b/, "no colours and no cursor movements in a pipe");

    const answered = await retinue("send", "asker", "@task paint completed\n@complete blue", "--wait");
    assert.equal(answered.code, 0, answered.stderr);
    const waited = await retinue("wait", "asker");
    assert.deepEqual([waited.code, waited.stdout], [0, "✓ asker completed: blue\n"]);
  });

  test("usage is the bill by run and attempt, with its sum", async () => {
    await agents.spawn(
      "pays",
      "@usage 10 2 3 0.5\n@spawn kid | @usage 1 1 1 0.25 | @complete\n@await kid\n@ask more?",
    );
    await agents.wait("pays");
    const own = await retinue("usage", "pays");
    assert.match(own.stdout, /^AGENT +RUN +ATTEMPT +INPUT +CACHED +OUTPUT +COST +MODEL\n/);
    assert.match(own.stdout, /^pays +1 +1 +10 +3 +2 +\$0\.50 +script-a\ntotal +10 +3 +2 +\$0\.50$/m);
    const tree = await retinue("usage", "pays", "--tree", "-o", "json");
    const bill = JSON.parse(tree.stdout).map((entry: { usage: { cost: number } }) => entry.usage.cost);
    assert.deepEqual(bill, [0.5, 0.25]);
  });

  test("ps draws the tree with phases in words, and hides what has ended unless asked", async () => {
    await agents.spawn("top", "@spawn below | @ask well?\n@hang");
    await agents.until("top/below", "asks", ({ phase }) => phase === "PHASE_WAITING_FOR_INPUT");
    await agents.spawn("gone", "@complete bye");
    await agents.wait("gone");
    const live = await retinue("ps");
    assert.match(live.stdout, /^AGENT +PHASE +AGE +COST +TOKENS +WANTS\n/);
    assert.match(live.stdout, /^top +running +\d+\w* +\$0\.00 +0$/m);
    assert.match(live.stdout, /^└─ below +waiting for input .* well\?$/m);
    assert.doesNotMatch(live.stdout, /gone/);
    const all = await retinue("ps", "--all", "-o", "json");
    const entries = JSON.parse(all.stdout).entries.map(
      (e: { agentId: { agent: string[] }; phase: string }) => [e.agentId.agent.join("/"), e.phase],
    );
    assert.deepEqual(
      entries.filter(([path]: string[]) => path === "gone" || path?.startsWith("top")),
      [
        ["gone", "PHASE_COMPLETED"],
        ["top", "PHASE_RUNNING"],
        ["top/below", "PHASE_WAITING_FOR_INPUT"],
      ],
    );
  });

  test("what an agent says cannot move the cursor of whoever reads it", async () => {
    await agents.spawn("rude", "@say \u001b[2Jgone\u0007\u009b31m\n@complete \u001b]0;title\u0007ok");
    await agents.wait("rude");
    assert.ok(saidIn(await agents.timeline("rude")).includes("\u001b[2J"), "it is stored as it was said");
    for (const args of [
      ["logs", "rude"],
      ["status", "rude"],
      ["wait", "rude"],
    ]) {
      const { stdout } = await retinue(...args);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: there must be none
      assert.doesNotMatch(stdout, /[\u001b\u0007\u009b]/, args.join(" "));
    }
  });

  test("logs can be left and taken up again at a cursor", async () => {
    await agents.spawn("writer", "@say one\n@sleep 10ms\n@ask next?");
    const { status } = await agents.wait("writer");
    const whole = await retinue("logs", "writer", "-o", "json");
    const events = whole.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.equal(events.length, Number(status.lastSeq));
    const rest = await retinue(
      "logs",
      "writer",
      "-o",
      "json",
      "--after",
      `${status.uid}:${events.length - 2}`,
    );
    assert.deepEqual(rest.stdout, `${whole.stdout.trim().split("\n").slice(-2).join("\n")}\n`);
    const following = retinue.start("logs", "writer", "-f", "--after", `${status.uid}:${events.length}`);
    await agents.queue("writer", "@complete all written");
    assert.equal((await following.exited).code, 0);
    assert.match(following.stdout(), /message queued[\s\S]*✓ completed$/m);
    assert.doesNotMatch(following.stdout(), /next\?/);
  });
});

test("a log that is followed goes on over a restart of the server: nothing is lost and nothing comes twice", async () => {
  const first = await startServer({ port: await freePort() });
  const run = cliOf(first, first.adminKey);
  const caller = createAgentCaller(first, first.adminKey);
  await caller.spawn("survivor", "@say before\n@sleep 1500ms\n@say after\n@complete made it");
  const following = run.start("logs", "survivor", "-f", "-o", "json");
  await printed(following, /("EVENT_TYPE_TURN_STARTED")/);
  await first.restart();
  assert.equal((await following.exited).code, 0, following.stderr());
  assert.match(following.stderr(), /connection lost; trying again/);
  const seen = following
    .stdout()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const stored = await caller.timeline("survivor");
  assert.deepEqual(
    seen.map(({ seq, type }) => [seq, type]),
    stored.map(({ seq, type }) => [seq, type]),
  );
  assert.match(saidIn(stored), /after/);
});
