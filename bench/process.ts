import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A server in a process of its own. */
export interface ServerProcess {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

const START_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 3000;

const children = new Set<ChildProcess>();
// Whatever ends this process, nothing that it has started goes on.
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(1));

/** Starts a compiled file of this repository with node, and waits until it says `listening on http://…`. */
export function startServer(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child = track(spawn(process.execPath, [file, ...args], { env: { ...process.env, ...env } }));
  let output = "";
  let errors = "";
  child.stderr?.on("data", (data: Buffer) => {
    errors = `${errors}${data}`.slice(-2000);
  });
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => fail("is not listening"), START_WITHIN_MS);
    const fail = (what: string) => {
      clearTimeout(late);
      child.kill("SIGKILL");
      reject(new Error(`${script} ${what}: ${errors}`));
    };
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code, signal) => fail(`ended with ${code ?? signal}`));
    child.stdout?.on("data", (data: Buffer) => {
      output += data;
      const port = /^listening on http:\/\/127\.0\.0\.1:(\d+)$/m.exec(output)?.[1];
      if (port === undefined) return;
      clearTimeout(late);
      resolve({ pid: child.pid as number, port: Number(port), stop: () => stopChild(child) });
    });
  });
}

/** Runs a program to its end and returns what it printed; it is killed when it takes longer than it may. */
export function run(
  command: string,
  args: readonly string[],
  withinMs: number,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { env: { ...process.env, ...env }, timeout: withinMs, killSignal: "SIGKILL" } as const;
  const child = track(spawn(command, args, options));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (data: Buffer) => {
      output += data;
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ended with ${code ?? signal}: ${output.slice(-500)}`));
    });
  });
}

export function isInstalled(command: string): boolean {
  try {
    execFileSync("which", [command], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export interface CpuUse {
  /** All threads: the store's writer is one, and the garbage collector has some. */
  readonly seconds: number;
  /** The thread that runs JavaScript, which is what limits how many requests a server takes. */
  readonly mainSeconds: number;
}

/** CPU that a process has used so far, user and system. */
export function cpuUse(pid: number): CpuUse {
  return {
    seconds: statSeconds(`/proc/${pid}/stat`),
    mainSeconds: statSeconds(`/proc/${pid}/task/${pid}/stat`),
  };
}

let ticksPerSecond: number | undefined;

function statSeconds(file: string): number {
  ticksPerSecond ??= Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
  const stat = readFileSync(file, "utf8");
  // The second field is the program's name, in parentheses, and may hold anything; utime is the fourteenth.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

export function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const hard = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MS);
    child.once("exit", () => {
      clearTimeout(hard);
      resolve();
    });
    child.kill("SIGTERM");
  });
}

export function track(child: ChildProcess): ChildProcess {
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}
