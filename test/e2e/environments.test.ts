import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type AgentCaller, assertFault, createAgentCaller } from "../support/agents.js";
import { encode, rest, startServer, type TestServer } from "../support/server.js";

const SECRET = "s3cr3t-v4lue-7f";

describe("an environment", () => {
  let server: TestServer;
  let agents: AgentCaller;

  before(async () => {
    server = await startServer();
    agents = createAgentCaller(server, server.adminKey);
    await put("secret", "deploy", { value: SECRET });
  });

  async function put(kind: string, name: string, document: object): Promise<void> {
    const payload = encode(document);
    const answer = await rest(server, server.adminKey, "POST", `/v1/catalog/${kind}/${name}`, { payload });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  }

  test("sets variables and runs its commands once, live in the log, with secrets masked everywhere", async () => {
    await put("environment", "web", {
      variables: [
        { name: "COLOUR", value: "blue" },
        { name: "DEPLOY_KEY", secret: "deploy" },
      ],
      setupCommands: [
        { name: "prepare", run: 'echo "$COLOUR $DEPLOY_KEY"; echo $DEPLOY_KEY > key; echo x >> runs' },
      ],
    });
    await agents.spawn(
      "web",
      "@run cat key runs; echo $COLOUR\n@say it is $DEPLOY_KEY\n@run cat key >&2; exit 1",
      {
        environment: "web",
      },
    );
    await agents.wait("web");
    await agents.queue("web", `@say ${SECRET}\n@complete done`);
    await agents.wait("web");
    const events = await agents.timeline("web");
    const text = JSON.stringify(events.filter(({ type }) => !/FOLLOW_UP|SPAWNED/.test(type)));
    assert.equal(text.includes(SECRET), false, text);
    const steps = events.flatMap(({ payload }) => payload.setup ?? []);
    assert.deepEqual(
      steps.map(({ name, state, output }) => [name, state, output]),
      [
        ["prepare", "SETUP_STATE_STARTED", ""],
        ["prepare", "SETUP_STATE_OUTPUT", "blue ***\n"],
        ["prepare", "SETUP_STATE_DONE", ""],
      ],
    );
    assert.match(text, /\*\*\*\\nx\\nblue/);
    assert.equal(server.logged.join("").includes(SECRET), false);
  });

  test("a command that fails, fails the agent with the end of what it said", async () => {
    await put("environment", "broken", {
      variables: [{ name: "DEPLOY_KEY", secret: "deploy" }],
      setupCommands: [{ name: "install", run: "echo no such package $DEPLOY_KEY >&2; exit 7" }],
    });
    await agents.spawn("broken", "@complete never", { environment: "broken" });
    const { reason, status } = await agents.wait("broken");
    assert.equal(reason, "WAIT_REASON_FAILED");
    assert.equal(status.lastError.message, 'set-up command "install" ended with code 7: no such package ***');
  });

  test("a command that hangs is ended at its time-out, and by a kill before that", async () => {
    await put("environment", "slow", { setupCommands: [{ run: "sleep 1000", timeout: "0.3s" }] });
    await put("environment", "slower", { setupCommands: [{ run: "sleep 1000" }] });
    await agents.spawn("slow", "@complete never", { environment: "slow" });
    await agents.spawn("slower", "@complete never", { environment: "slower" });
    assert.match((await agents.wait("slow")).status.lastError.message, /"sleep 1000" took longer than 0.3 s/);
    await agents.until("slower", "in set-up", ({ lastSeq }) => Number(lastSeq) >= 4);
    await agents.get("kill", "slower");
    assert.equal((await agents.wait("slower")).reason, "WAIT_REASON_CANCELED");
  });

  test("its profile limits processes and memory, and the status says so", async (context) => {
    await put("vm-profile", "small", { sandbox: "SANDBOX_BWRAP", maxProcesses: 24, memoryMib: "256" });
    await put("environment", "small", { vmProfile: "small" });
    const spawned = await agents.ask("spawn", "small", {
      description: "@run for i in $(seq 40); do sleep 5 & done; wait\n@complete done",
      environment: "small",
    });
    if (spawned.status !== 200 && /cgroup|bubblewrap/.test(spawned.body.message)) {
      context.skip(spawned.body.message);
      return;
    }
    const { status } = await agents.wait("small");
    assert.equal(status.runtime.isolation, "bwrap, 256 MiB, 24 processes");
    assert.match(
      JSON.stringify(await agents.timeline("small")),
      /[Cc]annot fork|Resource temporarily unavailable/,
    );
    await agents.spawn("tree", "@ask what?", { environment: "small" });
    const weaker = await agents.ask("spawn", "tree/child", { description: "x", environment: "default" });
    assert.equal(weaker.status, 200, "a child that names no profile has its parent's");
    await put("vm-profile", "wide", { sandbox: "SANDBOX_BWRAP", maxProcesses: 25, memoryMib: "256" });
    await put("environment", "wide", { vmProfile: "wide" });
    const wide = await agents.ask("spawn", "tree/wide", { description: "x", environment: "wide" });
    assertFault(wide, 400, "ISOLATION_WEAKER", /maxProcesses/);
  });

  test("a profile that cannot be enforced is refused, not weakened", async () => {
    const bare = await startServer({ isolation: "none" });
    const callers = createAgentCaller(bare, bare.adminKey);
    for (const [kind, document] of [
      ["vm-profile", { sandbox: "SANDBOX_BWRAP" }],
      ["environment", { vmProfile: "tight" }],
    ] as const) {
      await rest(bare, bare.adminKey, "POST", `/v1/catalog/${kind}/tight`, { payload: encode(document) });
    }
    const answer = await callers.ask("spawn", "tight", { description: "x", environment: "tight" });
    assertFault(answer, 400, "ISOLATION_UNAVAILABLE", /bubblewrap does not work/);
  });
});
