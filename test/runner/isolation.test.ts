import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readProcess } from "../../src/runner/processes/process-table.js";
import { cleanUp } from "../support/cleanup.js";
import { temporaryFolder } from "../support/folder.js";
import { bwrapTest, carriers, fakeAgent, isolationTest, openBench, says, tell, until } from "./fixture.js";

bwrapTest(
  "an agent cannot read the data folder, and can write its own two folders and no other",
  async () => {
    // Not below /tmp, which is hidden anyway.
    const data = mkdtempSync("/var/tmp/retinue-test-");
    cleanUp(() => rmSync(data, { recursive: true, force: true }));
    const bench = await openBench({ data });
    assert.equal(bench.runner.isolation, "bwrap");
    mkdirSync(join(bench.data, "agents", "agent-2", "home"), { recursive: true });
    writeFileSync(join(bench.data, "agents", "agent-2", "home", "theirs"), "theirs");
    const session = await bench.start();
    const said = async (command: string) => {
      const told = tell(session, `@run ${command}`);
      await told.result;
      return told.text();
    };
    assert.match(await said(`cat ${bench.data}/admin.key`), /No such file/);
    assert.match(await said(`cat ${bench.data}/agents/agent-2/home/theirs`), /No such file/);
    assert.match(
      await said(`umount -l ${bench.data}; cat ${bench.data}/admin.key`),
      /umount: .*No such file/s,
    );
    assert.match(
      await said(`unshare -Urm sh -c "umount -l ${bench.data}"; cat ${bench.data}/admin.key`),
      /No such file/,
    );
    assert.match(
      await said(`cat /proc/${process.pid}/environ; cat /proc/${process.pid}/root${bench.data}/admin.key`),
      /No such file.*No such file/s,
    );
    assert.match(await said(`echo x > ${bench.data}/made`), /Read-only/);
    assert.match(await said("echo x > /etc/made"), /Read-only/);
    assert.equal(
      await said("echo mine > made; echo mine > ~/made; cat made ~/made"),
      "[script, no model]\nmine\nmine\n",
    );
    assert.equal(readFileSync(join(bench.spec().cwd, "made"), "utf8"), "mine\n");
    const scratch = `retinue-${randomUUID()}`;
    assert.match(await said(`echo x > /tmp/${scratch} && ls /tmp`), new RegExp(scratch));
    assert.equal(existsSync(`/tmp/${scratch}`), false);
    // A line that fails ends with its code, so that nothing above passes by being empty.
    assert.match(await said("false"), /ended with code 1/);
  },
);

isolationTest("the environment is cleared", async (isolation) => {
  process.env.SECRET_OF_THE_SERVER = "hunter2";
  const bench = await openBench({ isolation });
  const spec = bench.spec();
  const session = await bench.start({ program: { ...spec.program, env: { GIVEN: "yes" } } });
  const told = tell(
    session,
    "@run env | cut -d= -f1 | sort | tr '\\n' ' '; echo; echo $HOME $GIVEN; pwd; cat /proc/1/environ",
  );
  await told.result;
  delete process.env.SECRET_OF_THE_SERVER;
  const [, names, values, cwd] = told.text().split("\n");
  const shells = new Set(["PWD", "OLDPWD", "SHLVL", "_"]);
  assert.deepEqual(
    names
      ?.trim()
      .split(" ")
      .filter((name) => !shells.has(name)),
    ["GIVEN", "HOME", "LANG", "PATH", "RETINUE_PROCESS_TOKEN", "RETINUE_SCRIPT_RUN"],
  );
  assert.deepEqual([values, cwd], [`${spec.home} yes`, spec.cwd]);
  assert.equal(told.text().includes("hunter2"), false);
});

/** Starts `parent.js`, which starts a session; both are at work when this resolves. */
async function startParent(isolation: "auto" | "none", token: string) {
  const main = fileURLToPath(new URL("./parent.js", import.meta.url));
  const args = [main, join(temporaryFolder(), "data"), isolation, token];
  const parent = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(parent.stdout, "data");
  await until("the sleepers run", async () => (await carriers(token)).length >= 4);
  return parent;
}

bwrapTest("kill -9 of the server leaves no process behind under bwrap", async () => {
  const token = randomUUID();
  const parent = await startParent("auto", token);
  // Stopped: the agent cannot help by hearing the end of its input.
  for (const pid of await carriers(token)) process.kill(pid, "SIGSTOP");
  parent.kill("SIGKILL");
  await until("all are gone", async () => (await carriers(token)).length === 0);
});

test("without isolation a sweep finds what kill -9 of the server left behind, and nothing else", async () => {
  const [token, other] = [randomUUID(), randomUUID()];
  const [parent, bystander] = await Promise.all([startParent("none", token), startParent("none", other)]);
  const { runner } = await openBench({ isolation: "none" });
  // Stopped, so that the agent cannot clean up on the end of its input.
  const pids = await carriers(token);
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  parent.kill("SIGKILL");
  await once(parent, "exit");
  assert.equal((await carriers(token)).length, pids.length);
  assert.equal(await runner.sweep([randomUUID(), token]), pids.length);
  assert.deepEqual(await carriers(token), []);
  assert.ok((await carriers(other)).length >= 4);
  assert.equal(await runner.sweep([token]), 0);
  assert.equal(await runner.sweep([]), 0);
  bystander.kill("SIGKILL");
  assert.ok((await runner.sweep([other])) > 0);
});

test("without isolation a process that dropped its environment and its session is found through its parent", async () => {
  const bench = await openBench({ isolation: "none" });
  const session = await bench.start({ program: fakeAgent("evades") });
  const told = tell(session, "go");
  await told.seen((update) => update.type === "text");
  const pid = Number(told.text());
  assert.ok(readProcess(pid));
  assert.equal((await carriers(session.process.token)).length, 2, "by its parent, for it carries no token");
  await session.kill();
  await until("it is gone", () => readProcess(pid)?.zombie !== false);
});

test("without isolation a process that ends by itself leaves nothing behind either", async () => {
  const bench = await openBench({ isolation: "none" });
  const session = await bench.start();
  const told = tell(session, "@run setsid sleep 1000 > /dev/null 2>&1 &\n@say left\n@sleep 0.1s\n@crash");
  await told.seen(says("left"));
  assert.equal((await told.result).error?.kind, "agent_exited");
  await session.exited;
  assert.deepEqual(await carriers(session.process.token), []);
});

const FOLDERS: readonly (readonly [
  name: string,
  change: (data: string) => { uid?: string; cwd?: string; home?: string },
])[] = [
  ["a folder elsewhere", () => ({ cwd: "/etc" })],
  ["another agent's folder", (data) => ({ cwd: join(data, "agents", "agent-2", "work") })],
  ["the agents folder itself", (data) => ({ home: join(data, "agents", "agent-1") })],
  ["a way out", (data) => ({ cwd: `${join(data, "agents", "agent-1")}/../../x` })],
  ["a uid that is a path", () => ({ uid: ".." })],
  ["a link to elsewhere", (data) => ({ cwd: join(data, "agents", "agent-1", "link") })],
];

for (const [name, change] of FOLDERS) {
  test(`refused as an agent's own: ${name}`, async () => {
    const bench = await openBench({ isolation: "none" });
    mkdirSync(join(bench.data, "agents", "agent-1"), { recursive: true });
    symlinkSync(bench.data, join(bench.data, "agents", "agent-1", "link"));
    const started = bench.runner.start(bench.spec(change(bench.data)));
    await assert.rejects(started, { name: "RunnerError", kind: "agent_folder", fatal: true });
  });
}
