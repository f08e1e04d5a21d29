// Installs the agent programs that `npm run test:agents` drives, each version once, into a cache folder of the user:
// they are large, and no dependency of the package. Needs the build, which knows the versions.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { AGENTS_FOLDER, PACKAGES } from "../dist/test/agents/installed.js";

if (existsSync(AGENTS_FOLDER)) process.exit(0);
console.log(`Installing ${Object.keys(PACKAGES).join(" and ")} into ${AGENTS_FOLDER} (about 700 MB) …`);
const folder = `${AGENTS_FOLDER}.${process.pid}`;
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}/package.json`, JSON.stringify({ private: true, dependencies: PACKAGES }));
const { status } = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--silent"], {
  cwd: folder,
  stdio: "inherit",
});
if (status !== 0) {
  rmSync(folder, { recursive: true, force: true });
  process.exit(status ?? 1);
}
mkdirSync(dirname(AGENTS_FOLDER), { recursive: true });
renameSync(folder, AGENTS_FOLDER);
