import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { pino } from "pino";
import { addServeOptions, type Config, configOf } from "../../src/main/config.js";
import { openRetinue } from "../../src/main/main.js";
import { cleanUp } from "./cleanup.js";
import { temporaryFolder } from "./folder.js";

/** The program as people start it, from the same build as the test. */
export const RETINUE = fileURLToPath(new URL("../../src/main/retinue.js", import.meta.url));

export interface Exit {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunOptions {
  /** Beside PATH and the like; no RETINUE_ variable of this process comes along. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A process that has been started, and what it has said so far. */
export interface Program {
  readonly pid: number;
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly exited: Promise<Exit>;
  kill(signal: NodeJS.Signals): void;
}

/** A `retinue serve` that is ready. */
export interface ServeProgram extends Program {
  /** As printed. */
  readonly url: string;
  readonly dataDir: string;
  readonly adminKey: string;
}

/** Starts `retinue` with these arguments; killed when the test file is done. */
export function startProgram(args: readonly string[], options: RunOptions = {}): Program {
  const child = spawn(process.execPath, [RETINUE, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...environment(), ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once("error", reject);
    // 'close' rather than 'exit': by then all that it said has been read.
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  cleanUp(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  return {
    pid: child.pid as number,
    child,
    stdout: () => Buffer.concat(out).toString(),
    stderr: () => Buffer.concat(err).toString(),
    exited,
    kill: (signal) => void child.kill(signal),
  };
}

/** Runs `retinue` to its end. One that would not end, because it listens, is killed: its code is null then. */
export async function runProgram(args: readonly string[], options: RunOptions = {}) {
  const program = startProgram(args, options);
  listeningUrl(program).then(
    () => program.kill("SIGKILL"),
    () => {},
  );
  const exit = await program.exited;
  return { ...exit, stdout: program.stdout(), stderr: program.stderr() };
}

/** Starts `retinue serve` on a free port and waits until it says that it listens. */
export async function startServe(
  options: RunOptions & { readonly dataDir?: string; readonly args?: readonly string[] } = {},
): Promise<ServeProgram> {
  const dataDir = options.dataDir ?? join(temporaryFolder(), "data");
  const program = startProgram(["serve", "--port", "0", "--data", dataDir, ...(options.args ?? [])], options);
  const url = await listeningUrl(program);
  return { ...program, url, dataDir, adminKey: readFileSync(join(dataDir, "admin.key"), "utf8").trim() };
}

/** The address in `listening on …`. */
export function listeningUrl(program: Program): Promise<string> {
  return printed(program, /^listening on (\S+)\n/m);
}

/** What the pattern's group finds on standard output, once it does; fails with all that was said if it never does. */
export function printed(program: Program, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const found = pattern.exec(program.stdout())?.[1];
      if (found !== undefined) resolve(found);
    };
    program.child.stdout?.on("data", look);
    program.exited.then(({ code, signal }) => {
      const said = `${program.stdout()}${program.stderr()}`;
      reject(new Error(`retinue ended (${code ?? signal}) before it said ${pattern}: ${said}`));
    }, reject);
    look();
  });
}

/** The configuration that `retinue serve` makes of these flags and variables; throws what it would say. */
export function configFrom(args: readonly string[], env: Readonly<Record<string, string>> = {}): Config {
  const command = addServeOptions(new Command("serve"))
    .exitOverride()
    .configureOutput({ writeErr() {} });
  const before = process.env;
  process.env = { ...environment(), ...env };
  try {
    return configOf(command.parse(args, { from: "user" }));
  } finally {
    process.env = before;
  }
}

/** Why `retinue serve` does not start with these flags, found out without a process of its own, which takes a second. */
export async function refusalOf(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const data = ["--port", "0", "--data", join(temporaryFolder(), "data")];
  try {
    const config = configFrom([...data, ...args], env);
    const retinue = await openRetinue({ config, log: pino({ level: "silent" }), onFatal() {} });
    await retinue.close(0);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`was taken: ${args.join(" ")}`);
}

function environment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith("RETINUE_"));
  return Object.fromEntries(entries) as Record<string, string>;
}
