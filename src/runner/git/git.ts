import { spawn } from "node:child_process";
import { lastWords } from "../acp/tail.js";
import { signal as sendSignal } from "../processes/hunt.js";

/** What git run by the server may know of its surroundings. */
export interface GitEnvironment {
  readonly PATH: string;
  /** Where the server's user keeps keys, credential helpers and settings of git: for upstreams only. */
  readonly HOME: string;
}

export interface GitCall {
  readonly args: readonly string[];
  readonly cwd: string;
  /** Set for calls that reach an upstream, over this protocol and no other. */
  readonly upstream?: "https" | "ssh" | "file" | undefined;
  readonly processToken?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type Git = (call: GitCall) => Promise<string>;

/** git said no; the message is its own last words. */
export class GitError extends Error {
  override readonly name = "GitError";
}

const LOCAL_MS = 120_000;
const UPSTREAM_MS = 15 * 60_000;
const OUTPUT_BYTES = 16 * 1024 * 1024;

/** Nothing of a repository, of its settings or of the machine's may make the server's git run a program. */
export const HARDENED: readonly string[] = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "protocol.ext.allow=never",
  // Checkouts borrow objects: nothing may ever be collected.
  "gc.auto=0",
  "maintenance.auto=false",
  // A server that stops answering is no reason to wait for ever.
  "http.lowSpeedLimit=1000",
  "http.lowSpeedTime=60",
].flatMap((setting) => ["-c", setting]);

/** Runs git to its end and answers with what it printed. */
export function createGit(environment: GitEnvironment): Git {
  return (call) => {
    call.signal?.throwIfAborted();
    const child = spawn("git", [...HARDENED, ...call.args], {
      cwd: call.cwd,
      env: gitEnvironment(environment, call),
      // A group of its own: git's helpers are ended with it.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return new Promise((resolve, reject) => {
      const out: Buffer[] = [];
      let length = 0;
      let words = "";
      let why: Error | undefined;
      const end = (error: Error) => {
        why ??= error;
        if (child.pid !== undefined) sendSignal(-child.pid, "SIGKILL");
      };
      const timeoutMs = call.timeoutMs ?? (call.upstream ? UPSTREAM_MS : LOCAL_MS);
      const timer = setTimeout(
        () => end(new GitError(`git took longer than ${timeoutMs / 1000} s`)),
        timeoutMs,
      );
      const onAbort = () => end(new GitError("given up"));
      call.signal?.addEventListener("abort", onAbort, { once: true });
      const limit = call.maxBytes ?? OUTPUT_BYTES;
      child.stdout.on("data", (chunk: Buffer) => {
        length += chunk.length;
        if (length > limit) end(new GitTooMuch(`more than ${limit} bytes`));
        else out.push(chunk);
      });
      child.stderr.on("data", (chunk: Buffer) => {
        words = (words + chunk.toString("utf8")).slice(-8192);
      });
      const done = () => {
        clearTimeout(timer);
        call.signal?.removeEventListener("abort", onAbort);
      };
      child.once("error", (error) => {
        done();
        const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
        reject(new GitError(missing ? "git is not installed" : error.message));
      });
      child.once("close", (code, signalName) => {
        done();
        if (why === undefined && code === 0) resolve(Buffer.concat(out).toString("utf8"));
        else
          reject(why ?? new GitError(lastWords(words) || `git ended with ${signalName ?? `code ${code}`}`));
      });
    });
  };
}

/** More output than was asked for. */
export class GitTooMuch extends GitError {}

export function gitEnvironment(
  { PATH, HOME }: GitEnvironment,
  { upstream, processToken }: Pick<GitCall, "upstream" | "processToken">,
): Record<string, string> {
  return {
    PATH,
    LC_ALL: "C.UTF-8",
    GIT_TERMINAL_PROMPT: "0",
    GIT_SSH_COMMAND: "ssh -oBatchMode=yes -oConnectTimeout=20",
    GIT_ALLOW_PROTOCOL: upstream ?? "file",
    ...(upstream ? { HOME } : { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" }),
    ...(processToken === undefined ? {} : { RETINUE_PROCESS_TOKEN: processToken }),
  };
}
