import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startServer } from "../support/server.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The shell blocks of the README that are marked as runnable, as a person would paste them, one after the other. */
function runnableBlocks(): string[] {
  const readme = readFileSync(`${root}/README.md`, "utf8");
  return [...readme.matchAll(/<!-- run -->\n```sh\n([\s\S]*?)```/g)].map((match) => match[1] as string);
}

const missing = ["protoc", "grpc_python_plugin", "/usr/bin/python3"].filter(
  (command) => spawnSync("sh", ["-c", `command -v ${command}`]).status !== 0,
);
const noPython = missing.length > 0 && !process.env.CI ? `${missing.join(", ")} not installed` : false;

test("the README's walkthrough runs as written, down to the generated clients", {
  skip: noPython,
}, async () => {
  const server = await startServer();
  const blocks = runnableBlocks();
  assert.equal(blocks.length, 7);
  const { code, output } = await bash(["set -e", ...blocks].join("\n"), {
    RETINUE: server.url,
    KEY: server.adminKey,
    // Readers have a server on the usual port, which the command line finds by itself.
    RETINUE_URL: server.url,
    RETINUE_KEY: server.adminKey,
  });
  assert.equal(code, 0, output);
  assert.match(output, /carpenter completed: The shed is built\./);
  assert.match(output, /WAIT_REASON_NEEDS_INPUT.*Which colour\?/);
  assert.match(output, /WAIT_REASON_COMPLETED.*The shed is blue\./);
  assert.match(output, /"generation":"2"/);
  assert.match(output, /ifGenerationMatches: unknown field/);
  assert.match(output, /TypeScript: I am admin of local/);
  assert.match(output, /Python: I am admin of local/);
});

function bash(script: string, env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn("bash", ["-c", script], { cwd: root, env: { ...process.env, ...env } });
    let output = "";
    child.stdout.on("data", (data) => (output += data));
    child.stderr.on("data", (data) => (output += data));
    child.on("close", (code) => resolve({ code, output }));
  });
}
