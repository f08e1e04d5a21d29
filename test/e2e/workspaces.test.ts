import assert from "node:assert/strict";
import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { type AgentCaller, assertFault, createAgentCaller, until } from "../support/agents.js";
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

  test("what an agent made can be fetched: its diff, its branch, its transcript, its pushes", async () => {
    assertFault(await agents.ask("diff", "maker"), 404, "AGENT_NOT_FOUND");
    const { status } = await lived("maker", [
      "@run cd shop && echo two >> README.md && git commit -qam two && git push -q origin HEAD",
      "@run cd shop && echo three >> README.md && echo new > NEW",
      // Settings of the agent's own repository run as the agent, if at all.
      `@run cd shop && git config diff.external 'touch ${folder}/escaped;:' && git config core.fsmonitor 'touch ${folder}/escaped;:'`,
      "@ask more?",
    ]);
    const diff = await agents.get("diff", "maker");
    assert.deepEqual(
      [diff.repo, diff.branch, diff.uncommitted, diff.truncated],
      ["shop", branchOf(status, "maker"), true, false],
    );
    assert.deepEqual(diff.files, [
      { path: "NEW", additions: 1, deletions: 0, binary: false },
      { path: "README.md", additions: 2, deletions: 0, binary: false },
    ]);
    assert.match(diff.diff, /^\+two\n\+three$/m);
    assert.equal(existsSync(join(folder, "escaped")), false);

    const branch = await agents.get("branch", "maker");
    const bundle = join(folder, "maker.bundle");
    writeFileSync(bundle, Buffer.from(branch.bundle, "base64"));
    const clone = `${upstream}.work`;
    git(clone, "fetch", "--quiet", bundle, branch.branch);
    assert.equal(git(clone, "rev-parse", "FETCH_HEAD"), branch.headCommit);
    assert.equal(git(clone, "show", "FETCH_HEAD:README.md"), "The shop\ntwo");

    const { text, hasMore } = await agents.get("transcript", "maker");
    assert.match(text, /^# The work\n.*## Run 1\n.*\*\*Pushed:\*\* shop .*\*\*Question:\*\* more\?/s);
    assert.equal(hasMore, false);
    const { pushes: told } = await agents.get("pushes", "maker");
    assert.deepEqual([told.length, told[0].commit], [1, branch.headCommit]);
    assertFault(
      await agents.ask("diff", "maker", { repo: "other" }),
      400,
      "INVALID_FIELD",
      /the workspace has shop/,
    );
  });

  test("the files of an ended agent go when its workspace says so", async () => {
    await workspace("brief", { repos: [{ name: "shop", url: upstream }], keepFiles: "0s" });
    const { status } = await lived("brief", ["@complete done"], {
      agentId: { agent: ["brief"], workspace: "brief" },
    });
    const kept = (await agents.status("reader")).uid;
    const files = (uid: string) => join(server.dataDir, "agents", uid);
    assert.ok(existsSync(files(status.uid)));
    server = await server.restart();
    agents = createAgentCaller(server, server.adminKey);
    await until(
      "its files are gone",
      async () => existsSync(files(status.uid)),
      (there) => !there,
    );
    assert.ok(existsSync(files(kept)));
    assertFault(await agents.ask("diff", "brief"), 400, "NO_CHECKOUT");
  });
});
