import type { JsonValue } from "@bufbuild/protobuf";
import type { Logger } from "pino";
import type { Agent } from "../../domain/agent/agent.js";
import type { Decision as AgentDecision, Context } from "../../domain/agent/decision.js";
import type { Prompt as PromptType } from "../../domain/agent/desired.js";
import type { ToolUse } from "../../domain/agent/permission.js";
import { priceOf } from "../../domain/agent/price.js";
import type { Fence } from "../../domain/agent/turn.js";
import { turnEnded } from "../../domain/agent/turn-ended.js";
import { turnLost } from "../../domain/agent/turn-loss.js";
import { askedPermission, promptSent, runtimeReported } from "../../domain/agent/turn-report.js";
import type { Session, TurnResult, UsageDelta } from "../../runner/runner.js";
import { RunnerError } from "../../runner/runner-error.js";
import type { Schemas } from "../../schemas/schemas.js";
import type { Store } from "../../storage/store.js";
import type { Agents } from "./agents.js";
import type { AtFailpoint } from "./failpoints.js";
import type { Hub } from "./hub.js";
import type { Launch, Launches } from "./launch.js";
import type { Masks } from "./masks.js";
import { nativeOutput } from "./native-output.js";
import { permissionPolicy } from "./permissions.js";
import type { Process, Processes } from "./processes.js";
import { promptParts } from "./prompt.js";
import { createTranscript } from "./transcript.js";

/** Turns as they really run: one prompt at a time per agent, each report carrying the fence of its attempt. */
export interface Sessions {
  /**
   * Gives the prompt to the agent's process, made ready where there is none. Returns at once: that may take as long
   * as a clone, and must keep neither a stop nor a kill waiting. Its end is committed by itself.
   */
  run(agent: Agent, fence: Fence, prompt: PromptType): void;
  /** Gives up making ready for any attempt but this one. */
  keepStart(uid: string, fence: Fence | undefined): void;
  isStarting(uid: string): boolean;
  /** Whether this attempt is being worked on or made ready for. */
  isRunning(uid: string, fence: Fence): boolean;
  /** Asks the turn to end; false when there is none to ask. */
  cancel(uid: string, fence: Fence): boolean;
  /** Ends the agent's processes; resolves when none is left. */
  end(uid: string, how: "close" | "kill"): Promise<void>;
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

export interface SessionsOptions {
  readonly processes: Processes;
  readonly store: Store;
  readonly agents: Agents;
  readonly hub: Hub;
  readonly masks: Masks;
  readonly launches: Launches;
  readonly schemas: Pick<Schemas, "validate">;
  /** A start came to nothing for a reason that is no fault of the agent: to be tried again. */
  readonly failed: (uid: string, err: unknown) => void;
  readonly at: AtFailpoint;
  readonly log: Logger;
}

interface Start {
  readonly fence: Fence;
  readonly abort: AbortController;
  readonly over: Promise<void>;
}

export function createSessions(options: SessionsOptions): Sessions {
  const { processes, store, agents, hub, masks, launches, schemas, failed, at, log } = options;
  const running = new Map<string, Fence>();
  const starting = new Map<string, Start>();
  let stopped = false;

  function report<R>(
    uid: string,
    decide: (agent: Agent, context: Context) => AgentDecision<R>,
  ): Promise<R | undefined> {
    return agents.change("agent", (stage) => {
      const value = stage.agent(uid);
      return value && stage.apply(decide(value.agent, stage.contextOf(value.agent)));
    });
  }

  async function prompt(
    agent: Agent,
    launch: Launch,
    process: Process,
    fence: Fence,
    type: PromptType,
  ): Promise<void> {
    const { uid } = agent;
    const { session } = process;
    await session.apply(launch.settings);
    const { instructions } = launch.opening;
    const untold = !launch.program.takes.instructions && process.tell(instructions);
    const parts = await promptParts(store, agent, type, untold ? instructions : "");
    await report(uid, (a, c) =>
      runtimeReported(a, { ...fence, runtime: { ...a.runtime, ...process.runtime } }, c),
    );
    // The mark is committed before a byte of the prompt is written: after a crash it tells "continue" from "send".
    const mark = await report(uid, (a, c) => promptSent(a, fence, c));
    if (mark === undefined || mark.stale) return;
    at("after-prompt-sent-mark");
    if (!mark.send) return ended(uid, fence, { outcome: "cancelled" }, "");
    const priced = (usage: UsageDelta): UsageDelta =>
      usage.cost > 0 || process.tellsCost() ? usage : { ...usage, cost: priceOf(usage, launch.prices) };
    const { sessionAt } = process;
    masks.add(uid, launch.program.secrets ?? []);
    const transcript = createTranscript({ agents, hub, masks, uid, fence, priced, sessionAt });
    process.bind(fence);
    const refused = (use: ToolUse, title: string) => void ask(uid, fence, session, { use, title });
    process.decideBy(permissionPolicy({ allow: launch.allow, granted: agent.turn?.granted, refused }));
    const turn = session.prompt({ runId: fence.runId, parts }, transcript.update);
    running.set(uid, fence);
    at("after-prompt");
    // Not awaited: the reconciler looks at the agent again while the turn goes on.
    turn
      .then(async (result) => {
        // A turn that the server itself suspends stays held: the next start finds it and goes on.
        if (stopped) return;
        await transcript.flush(result.outcome !== "completed");
        at("before-turn-ended-commit");
        if (result.outcome === "completed" && result.output !== undefined) {
          const { outputSchema } = launch.opening;
          const rule = await nativeOutput(schemas, outputSchema, fence, result.output as JsonValue);
          await report(uid, rule);
        }
        const usage = result.usage && priced(result.usage);
        await ended(uid, fence, { ...result, usage }, transcript.lastMessage());
        at("after-turn-ended-commit");
      })
      .catch((err: unknown) => log.error({ err, uid }, "could not record the end of a turn"))
      .finally(() => {
        process.bind(undefined);
        if (running.get(uid) === fence) running.delete(uid);
        processes.changed(uid);
      });
  }

  /** The turn ends with the question; the call that led to it has been refused. */
  async function ask(uid: string, fence: Fence, session: Session, asked: { use: ToolUse; title: string }) {
    try {
      await report(uid, (a, c) => askedPermission(a, { ...fence, ...asked }, c));
      await session.cancel();
    } catch (err) {
      log.error({ err, uid }, "could not record a question");
    }
  }

  async function ended(uid: string, fence: Fence, result: TurnResult, summary: string): Promise<void> {
    const { error, usage } = result;
    if (result.outcome === "failed" && error) {
      await report(uid, (a, c) =>
        turnLost(a, { ...fence, loss: error.fatal ? "fatal" : "failure", error, usage }, c),
      );
      return;
    }
    await report(uid, (a, c) => turnEnded(a, { ...fence, summary, usage, error }, c));
  }

  /** Makes the process ready and prompts it; what an abort cuts short changes nothing. */
  async function start(agent: Agent, fence: Fence, type: PromptType, signal: AbortSignal): Promise<void> {
    const { uid } = agent;
    try {
      const launch = await launches.of(agent);
      const process = await processes.open(agent, launch, signal);
      // A turn that the server itself suspends stays held, however far its start has come.
      if (stopped || signal.aborted) return;
      await prompt(agent, launch, process, fence, type);
    } catch (error) {
      if (stopped || signal.aborted) return;
      if (!(error instanceof RunnerError)) throw error;
      await processes.end(uid, "kill");
      const { kind, message, retryable, fatal } = error;
      const loss = fatal ? "fatal" : "failure";
      await report(uid, (a, c) => turnLost(a, { ...fence, loss, error: { kind, message, retryable } }, c));
    }
  }

  /** Resolves when the start that was given up has left nothing behind. */
  async function giveUp(uid: string): Promise<void> {
    const given = starting.get(uid);
    given?.abort.abort();
    await given?.over.catch(() => {});
  }

  return {
    run(agent, { runId, attempt }, type) {
      const { uid } = agent;
      const fence = { runId, attempt };
      if (stopped || isSame(running.get(uid), fence) || isSame(starting.get(uid)?.fence, fence)) return;
      const abort = new AbortController();
      const earlier = giveUp(uid);
      const over = earlier.then(() => start(agent, fence, type, abort.signal));
      const entry = { fence, abort, over };
      starting.set(uid, entry);
      const done = () => {
        if (starting.get(uid) === entry) starting.delete(uid);
      };
      over.then(done, (err: unknown) => {
        done();
        failed(uid, err);
      });
    },
    keepStart(uid, fence) {
      const entry = starting.get(uid);
      if (entry && !(fence && isSame(entry.fence, fence))) entry.abort.abort();
    },
    isStarting: (uid) => starting.has(uid),
    isRunning: (uid, fence) => isSame(running.get(uid), fence) || isSame(starting.get(uid)?.fence, fence),
    cancel(uid, fence) {
      if (!isSame(running.get(uid), fence)) return false;
      void processes.find(uid)?.session.cancel();
      return true;
    },
    async end(uid, how) {
      await giveUp(uid);
      await processes.end(uid, how);
    },
    sweep: () => processes.sweep(),
    stop() {
      stopped = true;
      for (const { abort } of starting.values()) abort.abort();
      return processes.stop();
    },
  };
}

function isSame(a: Fence | undefined, b: Fence): boolean {
  return a?.runId === b.runId && a.attempt === b.attempt;
}
