import { startCodexSession } from "../codex/start-session.js";
import { endProcesses } from "../processes/hunt.js";
import type { Limits, Runner, Session, SessionSpec } from "../runner.js";
import { passing, RunnerError } from "../runner-error.js";
import { type AgentProcess, startProcess } from "./agent-process.js";
import {
  agentEnvironment,
  type BaseEnvironment,
  DEFAULT_ENVIRONMENT,
  resolveCommand,
  TOKEN_VARIABLE,
} from "./environment.js";
import { prepareFolders } from "./folders.js";
import { probeBwrap } from "./probe-bwrap.js";
import { sandboxed } from "./sandbox.js";
import { startSession } from "./start-session.js";

export interface AcpRunnerOptions {
  /** `<data>/agents`: every agent's folders lie in `<uid>` below it. */
  readonly agentsFolder: string;
  /** PATH and LANG of the agents; whoever reads the server's environment hands them in. */
  readonly environment?: Partial<BaseEnvironment> | undefined;
  /** `none` does not even look for bubblewrap. Default `auto`. */
  readonly isolation?: "auto" | "none" | undefined;
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

  const launch = async (asked: SessionSpec, limits: Limits): Promise<[AgentProcess, SessionSpec]> => {
    const spec = await prepareFolders(asked, options.agentsFolder);
    const env = agentEnvironment(spec, base);
    const path = env.PATH ?? "";
    const plain = { command: await resolveCommand(spec.program.command, path), args: spec.program.args };
    const started = await startProcess({
      launch: bwrap === undefined ? plain : await sandboxed(bwrap, spec, plain, path),
      env,
      cwd: spec.cwd,
      token: spec.processToken,
      limits,
      isolated: bwrap !== undefined,
      secrets: [spec.mcp.key],
    });
    return [started, spec];
  };

  return {
    isolation: bwrap === undefined ? "none" : "bwrap",

    async start(asked) {
      if (!TOKEN.test(asked.processToken)) throw new Error(`processToken: must match ${TOKEN.source}`);
      const limits = { ...LIMITS, ...asked.limits };
      if (asked.signal?.aborted) throw aborted();
      const [agentProcess, spec] = await launch(asked, limits);
      try {
        const session =
          spec.program.protocol === "codex"
            ? startCodexSession(agentProcess, spec, bwrap !== undefined)
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
