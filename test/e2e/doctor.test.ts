import assert from "node:assert/strict";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { examine, type Finding } from "../../src/runner/doctor/examine.js";
import { assertFault, createAgentCaller } from "../support/agents.js";
import { temporaryFolder } from "../support/folder.js";
import { runProgram } from "../support/process.js";
import { NO_AGENTS, startServer } from "../support/server.js";

/** A program of npm's: a link to a file of a package. */
function installed(folder: string, name: string, version: string): string {
  const home = join(folder, "node_modules", name);
  mkdirSync(join(home, "dist"), { recursive: true });
  writeFileSync(join(home, "package.json"), JSON.stringify({ name, version }));
  writeFileSync(join(home, "dist", "index.js"), "#!/bin/sh\nexit 1\n");
  chmodSync(join(home, "dist", "index.js"), 0o755);
  symlinkSync(join(home, "dist", "index.js"), join(folder, name));
  return join(folder, name);
}

const byName = (findings: readonly Finding[], name: string) => findings.find((one) => one.name === name);

test("doctor: what is there, which version, and what is missing", async () => {
  const folder = temporaryFolder();
  const findings = await examine({
    ...NO_AGENTS,
    commands: { claude: [installed(folder, "claude-agent-acp", "0.49.0")], other: ["/nowhere/agent"] },
    environment: { ANTHROPIC_API_KEY: "x" },
    path: `${folder}:${NO_AGENTS.path}`,
  });
  const claude = byName(findings, "claude");
  assert.deepEqual([claude?.state, claude?.version, claude?.note], ["ok", "0.49.0", ""]);
  const codex = byName(findings, "codex");
  assert.equal(codex?.state, "missing");
  assert.match(codex?.remedy ?? "", /npm install --global @openai\/codex@/);
  assert.equal(byName(findings, "other")?.state, "missing");
  assert.equal(byName(findings, "node")?.version, process.versions.node);
  assert.equal(byName(findings, "git")?.state, "ok");
  assert.ok(byName(findings, "bwrap"));
});

test("doctor: a program without a key, and one of another version, are told", async () => {
  const folder = temporaryFolder();
  const commands = { codex: [installed(folder, "codex", "0.1.0")] };
  const [keyless] = (await examine({ ...NO_AGENTS, commands })).filter(({ name }) => name === "codex");
  assert.equal(keyless?.state, "problem");
  assert.match(keyless?.note ?? "", /OPENAI_API_KEY/);
  const environment = { OPENAI_API_KEY: "x" };
  const [old] = (await examine({ ...NO_AGENTS, commands, environment })).filter(
    ({ name }) => name === "codex",
  );
  assert.deepEqual([old?.state, old?.version], ["ok", "0.1.0"]);
  assert.match(old?.note ?? "", /^tested with /);
});

test("doctor: lines for people, JSON for programs, and no key in either", async () => {
  const env = { ANTHROPIC_API_KEY: "sk-very-secret" };
  const lines = await runProgram(["doctor", "--custom-agent", "mine=/nowhere/mine --acp"], { env });
  assert.equal(lines.code, 0, lines.stderr);
  assert.match(lines.stdout, /^ok {6}node /m);
  assert.match(lines.stdout, /^missing mine /m);
  const json = await runProgram(["doctor", "-o", "json"], { env });
  const names = JSON.parse(json.stdout).findings.map(({ name }: Finding) => name);
  assert.deepEqual(names, ["node", "git", "bwrap", "claude", "codex"]);
  assert.doesNotMatch(lines.stdout + json.stdout, /sk-very-secret/);
});

test("a model whose program is not installed is refused, with what to install", async () => {
  const server = await startServer({ agents: { ...NO_AGENTS, path: "/nowhere" } });
  const agents = createAgentCaller(server, server.adminKey);
  const claude = await agents.ask("spawn", "a", { description: "x", model: "claude-opus-4-8" });
  assertFault(
    claude,
    400,
    "AGENT_NOT_INSTALLED",
    /npm install --global @agentclientprotocol\/claude-agent-acp@/,
  );
  const codex = await agents.ask("spawn", "a", { description: "x", model: "gpt-5.5" });
  assertFault(codex, 400, "AGENT_NOT_INSTALLED", /npm install --global @openai\/codex@/);
});
