import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { type AgentCaller, createAgentCaller } from "../support/agents.js";
import { temporaryFolder } from "../support/folder.js";
import { noTerminal, openTerminal, type TerminalOptions } from "../support/pty.js";
import { startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let agents: AgentCaller;

before(async () => {
  server = await startServer();
  agents = createAgentCaller(server, server.adminKey);
});

function retinue(args: string[], options: Partial<TerminalOptions> = {}) {
  const env = {
    RETINUE_URL: server.url,
    RETINUE_KEY: server.adminKey,
    XDG_CONFIG_HOME: join(temporaryFolder(), "config"),
    ...options.env,
  };
  return openTerminal(args, { ...options, env });
}

const CTRL_C = "\u0003";
// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of colours are what is looked for
const COLOUR = /\u001b\[3[1-6]m/;

describe("retinue on a terminal", { concurrency: 2, skip: noTerminal }, () => {
  test("spawn --follow paints the tree in place: turn, checklist, children, and the question at the end", async () => {
    const script = "@task one in_progress\n@spawn kid | @say helping | @ask which way?\n@hang";
    const view = retinue([
      "spawn",
      "top",
      script,
      "--follow",
      "-t",
      "one=First thing",
      "-t",
      "two=Second thing",
    ]);
    await view.shows(/^. top {2}running · \d+s · run 1 · ▱+ 0\/2$/m);
    await view.shows(/^│ ◐ First thing\n│ ☐ Second thing$/m);
    await view.shows(/^└─ \? kid {2}waiting for input.*\n +which way\?$/m);
    assert.ok(view.screen.cursorHidden());
    assert.match(view.raw(), COLOUR);
    const tops = view.screen.lines().filter((line) => / top /.test(line));
    assert.equal(tops.length, 1, `painted over, not below:\n${view.screen.lines().join("\n")}`);

    await agents.get("stop-turn", "top", { runId: 1, mode: "STOP_TURN_MODE_KILL" });
    assert.equal(await view.exited, 12);
    assert.match(
      view.screen.lines().join("\n"),
      /^\? top waiting for input.*\n {2}→ answer with: retinue send top TEXT$/m,
    );
    assert.ok(!view.screen.cursorHidden(), "the cursor is back");
  });

  test("Ctrl-C during --follow and wait leaves the agent running, says so, and exits 130", async () => {
    const follow = retinue(["spawn", "steady", "@hang", "--follow"]);
    await follow.shows(/steady {2}running/);
    follow.type(CTRL_C);
    assert.equal(await follow.exited, 130);
    assert.match(
      follow.screen.lines().join("\n"),
      /left steady; the agent goes on\n {2}→ .*retinue kill steady/,
    );
    assert.ok(!follow.screen.cursorHidden());

    const wait = retinue(["wait", "steady"]);
    await wait.shows(/waiting for steady \(Ctrl-C leaves it running\)/);
    wait.type(CTRL_C);
    assert.equal(await wait.exited, 130);
    assert.match(wait.screen.lines().join("\n"), /left steady; the agent goes on/);
    assert.equal((await agents.status("steady")).phase, "PHASE_RUNNING");
  });

  test("a narrow and low terminal: no row is broken, and the top of the tree stays", async () => {
    const tasks = Array.from({ length: 12 }, (_, i) => [
      "-t",
      `t${i}=A subject that is far too long for it ${i}`,
    ]);
    const view = retinue(["spawn", "wide", "@hang", "--follow", ...tasks.flat()], { rows: 10, columns: 40 });
    await view.shows(/^. wide {2}running/m);
    await view.shows(/^… 5 lines more$/m);
    const lines = view.screen.lines();
    assert.match(lines[0] ?? "", /wide {2}running/);
    assert.match(lines[1] ?? "", /^ {2}☐ A subject that is far too long for …$/);
    view.type(CTRL_C);
    await view.exited;
  });

  test("NO_COLOR takes the colours and leaves the rest", async () => {
    await agents.spawn("plain", "@ask well?");
    await agents.wait("plain");
    const view = retinue(["ps"], { env: { NO_COLOR: "1" } });
    assert.equal(await view.exited, 0);
    assert.match(view.screen.lines().join("\n"), /plain +waiting for input/);
    assert.doesNotMatch(view.raw(), COLOUR);
  });

  test("kill says what will die and asks; anything but yes leaves it alone", async () => {
    await agents.spawn("victim", "@spawn kid | @hang\n@hang");
    await agents.until("victim/kid", "runs", ({ phase }) => phase === "PHASE_RUNNING");
    const no = retinue(["kill", "victim"]);
    await no.shows(/kill victim and 1 below it\? \[y\/N\]/);
    no.type("\r");
    assert.equal(await no.exited, 1);
    assert.equal((await agents.status("victim")).phase, "PHASE_RUNNING");
    const yes = retinue(["kill", "victim"]);
    await yes.shows(/\[y\/N\]/);
    yes.type("y\r");
    assert.equal(await yes.exited, 0);
    await agents.until("victim", "is gone", ({ phase }) => phase === "PHASE_CANCELED");
  });

  test("demo starts a server of its own where there is none, shows the tree live, and takes it all away again", async () => {
    const cwd = temporaryFolder();
    const env = { RETINUE_URL: "", RETINUE_KEY: "", RETINUE_PORT: "1", TMPDIR: cwd };
    const demo = retinue(["demo"], { cwd, env, columns: 160 });
    await demo.shows(/started one for the demo at http:\/\/127\.0\.0\.1:\d+\n/);
    await demo.shows(/on the page: http:\S+\/ui\/agents\/\S+\nwithout a key: http:\S+\/ui\/share#\S+\n/);
    await demo.shows(/^│ [☑◐] Have bread baked$/m);
    await demo.shows(/^├─ . baker {2}running/m);
    const url = /demo at (\S+)/.exec(demo.screen.lines().join("\n"))?.[1] as string;
    assert.equal((await fetch(`${url}/v1/whoami`)).status, 401, "it is there");
    demo.type(CTRL_C);
    assert.equal(await demo.exited, 130);
    assert.match(demo.screen.lines().join("\n"), /left the demo; its server and its agents are gone/);
    await assert.rejects(fetch(url), "it is gone");
    assert.deepEqual(readdirSync(cwd), []);
  });

  test("login asks for the key, does not show it, and keeps it from others", async () => {
    const config = temporaryFolder();
    const env = { RETINUE_URL: "", RETINUE_KEY: "", XDG_CONFIG_HOME: config };
    const login = retinue(["login", server.url, "--name", "home"], { env });
    await login.shows(/key for http/);
    login.type(`${server.adminKey}\r`);
    assert.equal(await login.exited, 0);
    assert.ok(!login.raw().includes(server.adminKey));
    assert.match(login.screen.lines().join(""), /as codehost_oauth\/admin/);
    assert.equal(statSync(join(config, "retinue", "contexts.yaml")).mode & 0o777, 0o600);
    const me = retinue(["whoami"], { env });
    assert.equal(await me.exited, 0);
    assert.match(me.screen.lines().join("\n"), /^account +codehost_oauth\/admin$/m);
  });
});
