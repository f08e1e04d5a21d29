import { spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { atEnd } from "./fixtures.js";

export interface CommitProcess {
  /** With SIGKILL: nothing is closed or flushed. */
  kill(): Promise<void>;
}

export interface CommitProcessOptions {
  readonly dataDir: string;
  readonly log: string;
  readonly count: number;
  readonly lastFile?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs commit-child.ts until it has made all its commits; it stays alive, with the store open. */
export async function runCommits(t: TestContext, options: CommitProcessOptions): Promise<CommitProcess> {
  const script = fileURLToPath(new URL("./commit-child.js", import.meta.url));
  const child = spawn(
    process.execPath,
    [script, options.dataDir, options.log, String(options.count), options.lastFile ?? ""],
    { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...options.env } },
  );
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  // Not "exit": that may come before the last of its output.
  const exited = once(child, "close");
  async function kill(): Promise<void> {
    child.kill("SIGKILL");
    await exited;
  }
  atEnd(t, kill);
  const ended = exited.then(() => {
    throw new Error(`the child ended before its commits were made: ${errors}`);
  });
  await Promise.race([once(child.stdout, "data"), ended]);
  // From here on its end is expected.
  ended.catch(() => {});
  return { kill };
}
