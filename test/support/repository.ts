import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const SETTINGS = ["user.name=Test", "user.email=test@example.com", "init.defaultBranch=main"];

const settings = SETTINGS.flatMap((setting) => ["-c", setting]);
const env = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
};

/** Runs git for real, apart from what the machine has configured. */
export function git(cwd: string, ...args: string[]): string {
  const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
  return execFileSync("git", [...settings, ...args], { cwd, env, stdio, encoding: "utf8" }).trim();
}

/** The same where the other end of it is in this process. */
export async function gitAsync(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("git", [...settings, ...args], { cwd, env, encoding: "utf8" });
  return stdout.trim();
}

/** A bare repository with one commit on `main` that holds these files. */
export function makeUpstream(path: string, files: Readonly<Record<string, string>>): string {
  const work = `${path}.work`;
  mkdirSync(work, { recursive: true });
  git(work, "init", "--quiet");
  commitFiles(work, files, "begin");
  git(work, "clone", "--quiet", "--bare", work, path);
  git(work, "remote", "add", "origin", path);
  return path;
}

/** Another commit on a branch of it. */
export function growUpstream(path: string, branch: string, files: Readonly<Record<string, string>>): void {
  const work = `${path}.work`;
  git(work, "checkout", "--quiet", "-B", branch);
  commitFiles(work, files, `grow ${branch}`);
  git(work, "push", "--quiet", "origin", branch);
}

function commitFiles(work: string, files: Readonly<Record<string, string>>, message: string): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    writeFileSync(join(work, name), text);
  }
  git(work, "add", "--all");
  git(work, "commit", "--quiet", "--message", message);
}
