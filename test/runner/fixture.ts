import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type AcpRunnerOptions, createAcpRunner } from "../../src/runner/acp/acp-runner.js";
import { TOKEN_VARIABLE } from "../../src/runner/acp/environment.js";
import { findProcesses } from "../../src/runner/processes/hunt.js";
import type {
  AgentProgram,
  PromptPart,
  Runner,
  Session,
  SessionSpec,
  TurnResult,
  Update,
} from "../../src/runner/runner.js";
import { scriptedProgram } from "../../src/runner/scripted/program.js";
import { cleanUp } from "../support/cleanup.js";
import { temporaryFolder } from "../support/folder.js";

export interface Bench {
  readonly runner: Runner;
  readonly data: string;
  spec(change?: Partial<SessionSpec>): SessionSpec;
  /** Starts a session that is killed when the test file is done. */
  start(change?: Partial<SessionSpec>): Promise<Session>;
}

const ENVIRONMENT = { PATH: process.env.PATH as string };
export const NO_SETTINGS = { model: "", reasoningEffort: "", serviceTier: "", fastMode: false };

/** A runner over a data folder of its own, with a secret in it. */
export async function openBench(
  options: Pick<AcpRunnerOptions, "isolation"> & { readonly mcpUrl?: string; readonly data?: string } = {},
): Promise<Bench> {
  const data = options.data ?? join(temporaryFolder(), "data");
  mkdirSync(join(data, "agents"), { recursive: true });
  writeFileSync(join(data, "admin.key"), "the admin's key");
  const runner = await createAcpRunner({
    agentsFolder: join(data, "agents"),
    environment: ENVIRONMENT,
    isolation: options.isolation,
  });
  const spec = (change: Partial<SessionSpec> = {}): SessionSpec => ({
    uid: "agent-1",
    cwd: join(data, "agents", change.uid ?? "agent-1", "work"),
    home: join(data, "agents", change.uid ?? "agent-1", "home"),
    program: scriptedProgram(),
    mcp: { url: options.mcpUrl ?? "http://127.0.0.1:1/mcp", key: "the-agents-key" },
    instructions: "",
    outputSchema: "",
    settings: NO_SETTINGS,
    processToken: randomUUID(),
    hide: [data],
    ...change,
  });
  return {
    runner,
    data,
    spec,
    async start(change) {
      const session = await runner.start(spec(change));
      cleanUp(() => session.kill());
      return session;
    },
  };
}

/** The program of this folder that plays an agent out of order. */
export function fakeAgent(mode: string): AgentProgram {
  const main = fileURLToPath(new URL("./fake-agent.js", import.meta.url));
  // A clone below /tmp is hidden from agents: what this one loads has to be shown.
  const readable = [...(scriptedProgram().readable ?? []), dirname(main)];
  return { ...scriptedProgram(), args: [main, mode], readable };
}

export interface Told {
  readonly result: Promise<TurnResult>;
  readonly updates: Update[];
  /** All that was said so far. */
  text(): string;
  /** Resolves when an update fits; fails when the turn ends without one. */
  seen(fits: (update: Update) => boolean): Promise<Update>;
}

/** One turn of a caller's words. */
export function tell(session: Session, text: string, runId = 1): Told {
  return prompt(session, [{ from: "caller", text }], runId);
}

export function prompt(session: Session, parts: readonly PromptPart[], runId = 1): Told {
  const updates: Update[] = [];
  const looking = new Set<() => void>();
  const result = session.prompt({ runId, parts }, (update) => {
    updates.push(update);
    for (const look of looking) look();
  });
  return {
    result,
    updates,
    text: () => updates.map((update) => (update.type === "text" ? update.text : "")).join(""),
    seen: (fits) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(
          () => reject(new Error(`not seen in 20 s: ${JSON.stringify(updates)}`)),
          20_000,
        );
        const look = () => {
          const found = updates.find(fits);
          if (found === undefined) return;
          clearTimeout(late);
          resolve(found);
        };
        looking.add(look);
        look();
        const ended = ({ outcome }: TurnResult) => reject(new Error(`the turn ended ${outcome} without it`));
        result.then(ended, reject).finally(() => clearTimeout(late));
      }),
  };
}

export function says(words: string): (update: Update) => boolean {
  return (update) => update.type === "text" && update.text.includes(words);
}

/** Pids of the living processes that carry a token. */
export async function carriers(token: string): Promise<number[]> {
  const found = await findProcesses({ variable: TOKEN_VARIABLE, values: new Set([token]) });
  return found.map((entry) => entry.pid);
}

/** For what sends no event: other processes. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const start = performance.now(); performance.now() - start < 20_000; await sleep(10)) {
    if (await holds()) return;
  }
  throw new Error(`timed out: ${what}`);
}

const probed = await createAcpRunner({ agentsFolder: "/nonexistent", environment: ENVIRONMENT });
const bwrapWorks = probed.isolation === "bwrap";

/** A test under bubblewrap: skipped where that does not work, but not in CI, where it has to. */
export function bwrapTest(name: string, act: () => Promise<void>): void {
  const skip = !bwrapWorks && process.env.CI === undefined ? "bubblewrap does not work here" : false;
  test(name, { skip }, async () => {
    if (!bwrapWorks) throw new Error("bubblewrap does not work here, and CI has to have it");
    await act();
  });
}

/** A test in each isolation. */
export function isolationTest(name: string, act: (isolation: "auto" | "none") => Promise<void>): void {
  bwrapTest(`${name}, under bwrap`, () => act("auto"));
  test(`${name}, without isolation`, () => act("none"));
}
