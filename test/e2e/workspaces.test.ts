import assert from "node:assert/strict";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { type AgentCaller, createAgentCaller, until } from "../support/agents.js";
import { temporaryFolder } from "../support/folder.js";
import { git, growUpstream, makeUpstream } from "../support/repository.js";
import { encode, rest, startServer, type TestServer } from "../support/server.js";

describe("an agent in a workspace with a repository", () => {
  const folder = temporaryFolder();
  const upstream = join(folder, "shop.git");
  let server: TestServer;
  let agents: AgentCaller;

  before(async () => {
    makeUpstream(upstream, { "README.md": "The shop\n", "src/cart.ts": "export {};\n" });
    growUpstream(upstream, "next", { "NEXT.md": "Soon\n" });
    server = await startServer({ localRepos: [folder] });
    agents = createAgentCaller(server, server.adminKey);
    await workspace("default", { repos: [{ name: "shop", url: upstream }] });
  });

  async function workspace(name: string, document: object): Promise<void> {
    const payload = encode(document);
    const answer = await rest(server, server.adminKey, "POST", `/v1/catalog/workspace/${name}`, { payload });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  }

  /** Runs to the end and answers with its log. */
  async function lived(path: string, lines: string[], more: object = {}) {
    await agents.spawn(path, lines.join("\n"), more);
    const { reason, status } = await agents.wait(path);
    return { reason, status, events: await agents.timeline(path) };
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of every shape
  const outputs = (events: any[]): string =>
    events.map(({ payload }) => payload.toolResult?.output ?? "").join("\n");
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of every shape
  const pushes = (events: any[]) => events.flatMap(({ payload }) => payload.repoPushed ?? []);
  const branchOf = (status: { uid: string }, leaf: string) =>
    `retinue/admin/${leaf}-${status.uid.slice(0, 8)}`;

  test("finds a checkout of its own, on a branch of its own", async () => {
    const { status, events } = await lived("reader", [
      "@run cd shop && git branch --show-current && cat README.md && git fetch origin && git status --short",
      `@run ls -A ${server.dataDir} ${server.dataDir}/agents/*`,
      "@complete read",
    ]);
    assert.ok(outputs(events).includes(`${branchOf(status, "reader")}\nThe shop`), outputs(events));
    // Of the server's folder it sees its own, and no origin but through its gate.
    assert.doesNotMatch(outputs(events), /\.key$|\.db$|^origin$/m);
    const steps = events.flatMap(({ payload }) => payload.setup ?? []);
    assert.deepEqual(
      steps.map(({ name, state }) => [name, state]),
      [
        ["clone shop", "SETUP_STATE_STARTED"],
        ["clone shop", "SETUP_STATE_DONE"],
      ],
    );
  });

  test("what it pushes to its own branch, and to no other, is told with its files, wakes the tasks that wait for them, and reaches the upstream", async () => {
    const task = (id: string, pattern: string) => ({
      id,
      subject: id,
      activation: { filesModified: { pattern } },
    });
    const { reason, status, events } = await lived(
      "writer",
      [
        "@run cd shop && git commit -q --allow-empty -m x && git push origin HEAD:main; git reset -q --hard HEAD~1",
        "@run cd shop && echo 'export const one = 1;' > src/cart.ts && git commit -qam one && git push -q origin HEAD",
        "@task ts completed",
        "@complete written",
      ],
      { tasks: [task("ts", "src/*.ts"), task("md", "*.md")] },
    );
    assert.equal(reason, "WAIT_REASON_COMPLETED");
    const [push] = pushes(events);
    assert.deepEqual(
      [push.repo, push.branch, push.files],
      ["shop", branchOf(status, "writer"), ["src/cart.ts"]],
    );
    const activated = events.filter(({ type }) => type === "EVENT_TYPE_TASK_ACTIVATED");
    assert.deepEqual(
      activated.map(({ payload }) => payload.task.id),
      ["ts"],
    );
    const forwarded = async () =>
      git(upstream, "for-each-ref", "--format=%(objectname)", `refs/heads/${push.branch}`);
    assert.equal(await until("the upstream has it", forwarded, (commit) => commit !== ""), push.commit);
  });

  test("a child starts from what its parent pushed", async () => {
    await agents.spawn(
      "parent",
      [
        "@run cd shop && echo hello > HELLO && git add HELLO && git commit -qm hello && git push -q origin HEAD",
        "@spawn child | @run cat shop/HELLO && cd shop && git branch --show-current | @complete seen",
        "@await child",
        "@complete done",
      ].join("\n"),
    );
    const { reason } = await agents.wait("parent");
    assert.equal(reason, "WAIT_REASON_COMPLETED");
    assert.match(outputs(await agents.timeline("parent/child")), /hello\nretinue\/admin\/child-/);
  });

  test("a push that the upstream refuses is tried again until it is taken", async () => {
    const refusal = join(upstream, "hooks", "pre-receive");
    writeFileSync(refusal, "#!/bin/sh\nexit 1\n");
    chmodSync(refusal, 0o755);
    const { events } = await lived("patient", [
      "@run cd shop && git commit -q --allow-empty -m x && git push -q origin HEAD",
      "@complete pushed",
    ]);
    const [push] = pushes(events);
    await until(
      "a try failed",
      async () => server.logged.join(""),
      (log) => log.includes("could not forward"),
    );
    rmSync(refusal);
    const forwarded = async () =>
      git(upstream, "for-each-ref", "--format=%(objectname)", `refs/heads/${push.branch}`);
    assert.equal(await until("the upstream has it", forwarded, (commit) => commit !== ""), push.commit);
  });

  test("a base branch is where it starts", async () => {
    await workspace("based", { repos: [{ name: "shop", url: upstream, baseBranch: "next" }] });
    const { events } = await lived("based", ["@run cat shop/NEXT.md", "@complete read"], {
      agentId: { agent: ["based"], workspace: "based" },
    });
    assert.match(outputs(events), /Soon/);
  });

  const FAILURES: [string, object, RegExp][] = [
    ["gone", { url: join(folder, "gone.git") }, /repository shop could not be cloned: there is nothing at /],
    [
      "branchless",
      { url: upstream, baseBranch: "nowhere" },
      /repository shop could not be cloned: it has no branch nowhere/,
    ],
    [
      "foreign",
      { url: "/etc" },
      /repository shop could not be cloned: local repositories are allowed by .*--local-repos/,
    ],
  ];
  for (const [name, repo, message] of FAILURES) {
    test(`a repository that cannot be cloned fails the agent and says why: ${name}`, async () => {
      await workspace(name, { repos: [{ name: "shop", ...repo }] });
      const { reason, status } = await lived(name, ["@complete never"], {
        agentId: { agent: [name], workspace: name },
      });
      assert.equal(reason, "WAIT_REASON_FAILED");
      assert.match(status.lastError.message, message);
    });
  }
});
