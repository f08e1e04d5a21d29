// Lints the protos, holds generated code against them, and refuses changes that break clients on the wire.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const DESCRIPTOR = "gen/descriptor.binpb";
const git = (...args) => execFileSync("git", args, { maxBuffer: 1 << 28 });

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

run("buf", ["format", "--diff", "--exit-code", "proto"]);
run("buf", ["lint"]);

const before = git("status", "--porcelain", "--", "gen").toString();
run("npm", ["run", "--silent", "generate"]);
const after = git("status", "--porcelain", "--", "gen").toString();
if (before !== after || (process.env.CI && after !== "")) {
  console.error(`gen/ is stale: run 'npm run generate' and commit the result\n${after}`);
  process.exit(1);
}

// The descriptor as it was before the last commit that changed it, and as it is committed now.
const commits = git("log", "--format=%H", "-n", "2", "--", DESCRIPTOR).toString().split("\n").filter(Boolean);
const folder = mkdtempSync(join(tmpdir(), "retinue-proto-"));
try {
  for (const commit of commits) {
    const file = join(folder, `${commit}.binpb`);
    writeFileSync(file, git("show", `${commit}:${DESCRIPTOR}`));
    const config = JSON.stringify({ version: "v2", breaking: { use: ["WIRE_JSON"] } });
    run("buf", ["breaking", DESCRIPTOR, "--against", file, "--config", config]);
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log("protos: formatted, linted, generated code up to date, nothing breaking");
