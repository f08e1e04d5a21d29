import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { endProcesses, findProcesses, type Quarry, SurvivorsError, signal } from "../processes/hunt.js";
import { readProcess } from "../processes/process-table.js";
import type { ExitCause, ExitInfo, Limits, ProcessRef } from "../runner.js";
import { passing, RunnerError } from "../runner-error.js";
import { TOKEN_VARIABLE } from "./environment.js";
import { createOutputGuard, type OutputGuard } from "./output-guard.js";
import type { Launch } from "./sandbox.js";
import { createTail, lastWords, withoutSecrets } from "./tail.js";
import { within } from "./within.js";

/** A process tree of our own, from its start to its last member's end. */
export interface AgentProcess {
  readonly ref: ProcessRef;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly guard: OutputGuard;
  readonly exited: Promise<ExitInfo>;
  /** Undefined while it runs. */
  exit(): ExitInfo | undefined;
  close(): Promise<void>;
  /** The first cause given is the one that is told. */
  kill(cause?: ExitCause): Promise<void>;
}

export interface ProcessSpec {
  readonly launch: Launch;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly token: string;
  readonly limits: Limits;
  /** The first process is bubblewrap, which takes all others with it. */
  readonly isolated: boolean;
  /** Never to be seen in a message. */
  readonly secrets: readonly string[];
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const STDERR_TAIL = 64 * 1024;
/** What was written before the end still sits in the pipe. */
const DRAIN_MS = 250;

export async function startProcess(spec: ProcessSpec): Promise<AgentProcess> {
  const child = await spawned(spec);
  const pid = child.pid as number;
  const quarry: Quarry = { variable: TOKEN_VARIABLE, values: new Set([spec.token]) };
  const stderr = createTail(STDERR_TAIL);
  let cause: ExitCause | undefined;
  let why = "";
  let exit: ExitInfo | undefined;
  /** Its pid may be another's from here on. */
  let gone = false;

  const guard = createOutputGuard(spec.limits, (sentence) => {
    why = sentence;
    void kill("output_limit").catch(() => {});
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr.push(chunk);
    guard.count(chunk.length);
  });
  // A pipe breaks when the other end dies; the exit tells of that.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => {});

  const drained = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const exited = new Promise<ExitInfo>((resolve) => {
    child.once("exit", async (code, signalName) => {
      gone = true;
      // Whoever kills it from here on has not ended it.
      cause ??= "exited";
      // Without isolation children outlive it, and hold its pipes open.
      const survivors = await endProcesses(quarry).then(() => [], survivorsOf);
      await within(drained, DRAIN_MS);
      child.stdin.destroy();
      child.stdout.destroy();
      const text = withoutSecrets(stderr.text(), spec.secrets);
      const words = lastWords(text.trim() === "" ? withoutSecrets(guard.junk(), spec.secrets) : text);
      const message = exitMessage(cause, why, code, signalName, words);
      exit = { code, signal: signalName, cause, message, stderr: text, survivors };
      resolve(exit);
    });
  });

  const kill = async (because: ExitCause = "killed"): Promise<void> => {
    cause ??= because;
    if (exit !== undefined) {
      await endProcesses(quarry);
      return;
    }
    if (spec.isolated && !gone) {
      signal(pid, "SIGKILL");
    } else if (!gone) {
      // Halted first: killed at once, it would set free whatever only its parent still tells.
      signal(-pid, "SIGSTOP");
      await endProcesses({ ...quarry, roots: [pid] });
    }
    const { survivors } = await exited;
    if (survivors.length > 0) throw new SurvivorsError(survivors);
  };

  const close = async (): Promise<void> => {
    cause ??= "closed";
    child.stdin.end();
    if (await within(exited, spec.limits.closeMs)) return;
    // Not bubblewrap itself: it would take the others with it before they heard.
    for (const entry of await findProcesses(quarry)) {
      if (!spec.isolated || entry.pid !== pid) signal(entry.pid, "SIGTERM");
    }
    if (!(await within(exited, spec.limits.termMs))) await kill("closed");
  };

  const ref = { pid, startTime: readProcess(pid)?.startTime ?? "", token: spec.token };
  return { ref, stdin: child.stdin, stdout: child.stdout, guard, exited, exit: () => exit, close, kill };
}

function spawned(spec: ProcessSpec): Promise<Child> {
  const { command, args } = spec.launch;
  const child = spawn(command, args, {
    cwd: spec.cwd,
    env: spec.env,
    // A session and group of its own, so that one signal reaches what stays in it.
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  return new Promise((resolve, reject) => {
    child.once("spawn", () => resolve(child));
    child.once("error", (error) => {
      reject(
        new RunnerError(passing("agent_exited", `the agent program could not be started: ${error.message}`)),
      );
    });
  });
}

function survivorsOf(error: unknown): readonly number[] {
  if (error instanceof SurvivorsError) return error.pids;
  throw error;
}

function exitMessage(
  cause: ExitCause,
  why: string,
  code: number | null,
  signalName: string | null,
  words: string,
): string {
  const how = signalName === null ? `with code ${code}` : `by ${signalName}`;
  const sentences: Record<ExitCause, string> = {
    exited: `the agent program ended ${how}`,
    closed: "the agent program was closed",
    killed: "the agent program was killed",
    output_limit: `the agent program was ended because it wrote ${why}`,
    output_closed: "the agent program closed its output and was ended",
    start_failed: "the agent program was ended because its start failed",
  };
  return words === "" ? sentences[cause] : `${sentences[cause]}; its last words: ${words}`;
}
