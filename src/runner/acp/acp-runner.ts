import type { Confinement } from "../../domain/agent/confinement.js";
import { startCodexSession } from "../codex/start-session.js";
import { endProcesses } from "../processes/hunt.js";
import type { AgentProgram, Limits, Runner, Session, Surroundings } from "../runner.js";
import { fatal, passing, RunnerError } from "../runner-error.js";
import { type AgentProcess, startProcess } from "./agent-process.js";
import { probeCgroups } from "./cgroups.js";
import {
  agentEnvironment,
  type BaseEnvironment,
  DEFAULT_ENVIRONMENT,
  resolveCommand,
  TOKEN_VARIABLE,
} from "./environment.js";
import { prepareFolders } from "./folders.js";
import { probeBwrap } from "./probe-bwrap.js";
import { followCommand } from "./run-command.js";
import { sandboxed } from "./sandbox.js";
import { startSession } from "./start-session.js";

export interface AcpRunnerOptions {
  /** `<data>/agents`: every agent's folders lie in `<uid>` below it. */
  readonly agentsFolder: string;
  /** PATH and LANG of the agents; whoever reads the server's environment hands them in. */
  readonly environment?: Partial<BaseEnvironment> | undefined;
  /** `none` does not even look for bubblewrap. Default `auto`. */
  readonly isolation?: "auto" | "none" | undefined;
  /** Whether a profile may do without a sandbox where there is one. Default: it may not. */
  readonly allowUnsandboxed?: boolean | undefined;
}

const LIMITS: Limits = {
  lineBytes: 8 * 1024 * 1024,
  outputBytes: 256 * 1024 * 1024,
  junkBytes: 4 * 1024 * 1024,
  startMs: 60_000,
  closeMs: 5_000,
  termMs: 2_000,
};

const TOKEN = /^[A-Za-z0-9._-]{8,128}$/;

/**
 * A runner of programs that speak ACP over stdio. To be made on the main thread: `--die-with-parent` speaks of the
 * thread that started the process.
 */
export async function createAcpRunner(options: AcpRunnerOptions): Promise<Runner> {
  const base = { ...DEFAULT_ENVIRONMENT, ...options.environment };
  const bwrap = options.isolation === "none" ? undefined : await probeBwrap(base);

  const cgroups = await probeCgroups();
  const isolation = bwrap === undefined ? "none" : "bwrap";
  const byDefault: Confinement = { sandbox: isolation, network: "full", memoryMib: 0, maxProcesses: 0 };

  function problem({ sandbox, network, memoryMib, maxProcesses }: Confinement): string | undefined {
    if (sandbox === "bwrap" && bwrap === undefined)
      return "bubblewrap does not work on this machine: install bwrap and allow it to make namespaces";
    if (sandbox === "none" && bwrap !== undefined && options.allowUnsandboxed !== true)
      return "agents without a sandbox can read everything here: the server's flag --allow-unsandboxed allows them";
    if (network === "model-only") return "this server cannot keep a sandbox to the model's service yet";
    if (memoryMib > 0 && !cgroups.memory) return "memory cannot be limited: no cgroup can be written";
    if (maxProcesses > 0 && !cgroups.processes)
      return "processes cannot be limited: no cgroup can be written";
    return undefined;
  }

  const launch = async <S extends Surroundings & { readonly program: AgentProgram }>(
    asked: S,
    limits: Limits,
    secrets: readonly string[],
  ): Promise<[AgentProcess, S]> => {
    if (!TOKEN.test(asked.processToken)) throw new Error(`processToken: must match ${TOKEN.source}`);
    const confinement = asked.confinement ?? byDefault;
    // A machine that has changed since the spawn: refused here too, never weakened.
    const why = problem(confinement);
    if (why !== undefined) throw new RunnerError(fatal("isolation_unavailable", why));
    const spec = await prepareFolders(asked, options.agentsFolder);
    const env = agentEnvironment(spec, spec.program, base);
    const path = env.PATH ?? "";
    const plain = { command: await resolveCommand(spec.program.command, path), args: spec.program.args };
    const viewed =
      confinement.sandbox === "none" || bwrap === undefined
        ? plain
        : await sandboxed(bwrap, spec, plain, path);
    const confined = await cgroups.confined(spec.processToken, confinement, viewed);
    const started = await startProcess({
      launch: confined.launch,
      env,
      cwd: spec.cwd,
      token: spec.processToken,
      limits,
      isolated: confinement.sandbox === "bwrap",
      secrets: [...secrets, ...(spec.secrets ?? []), ...(spec.program.secrets ?? [])],
    }).catch(async (error: unknown) => {
      await confined.release();
      throw error;
    });
    void started.exited.then(confined.release);
    return [started, spec];
  };

  return {
    isolation,
    problem,

    async run(spec) {
      if (spec.signal.aborted) throw aborted();
      const args = ["-c", 'exec 2>&1; eval "$1"', "sh", spec.command];
      const program: AgentProgram = {
        protocol: "acp",
        command: "/bin/sh",
        args,
        env: {},
        takes: { instructions: false, outputSchema: false },
      };
      const [started] = await launch({ ...spec, program }, LIMITS, []);
      return followCommand(started, spec);
    },

    async start(asked) {
      const limits = { ...LIMITS, ...asked.limits };
      if (asked.signal?.aborted) throw aborted();
      const [agentProcess, spec] = await launch(asked, limits, [asked.mcp.key]);
      const isolated = (asked.confinement ?? byDefault).sandbox === "bwrap";
      try {
        const session =
          spec.program.protocol === "codex"
            ? startCodexSession(agentProcess, spec, isolated)
            : startSession(agentProcess, spec);
        return await unlessCut(session, limits.startMs, asked.signal);
      } catch (error) {
        // What would not die carries the token: a sweep's business.
        await agentProcess.kill("start_failed").catch(() => {});
        throw withLastWords(error, agentProcess);
      }
    },

    async sweep(tokens) {
      const values = new Set(tokens);
      return values.size === 0 ? 0 : endProcesses({ variable: TOKEN_VARIABLE, values });
    },
  };
}

/** Whatever comes first: the session, the time-out, or the caller's signal. */
function unlessCut(session: Promise<Session>, startMs: number, signal?: AbortSignal): Promise<Session> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(aborted());
    const timer = setTimeout(() => {
      const message = `the agent program did not open a session within ${startMs / 1000} s`;
      reject(new RunnerError(passing("start_timeout", message)));
    }, startMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    session.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    });
  });
}

/** A program that hangs may have said why. */
function withLastWords(error: unknown, agentProcess: AgentProcess): unknown {
  if (!(error instanceof RunnerError) || error.kind !== "start_timeout") return error;
  const { message } = agentProcess.exit() ?? error;
  return new RunnerError(passing("start_timeout", `${error.message}: ${message}`));
}

function aborted(): RunnerError {
  return new RunnerError(passing("start_aborted", "the start was given up"));
}
