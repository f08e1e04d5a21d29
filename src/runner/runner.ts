import type { Confinement } from "../domain/agent/confinement.js";
import type { TurnError } from "./runner-error.js";

/**
 * Runs agent programs. The engine knows this port only: which protocol a program speaks, and how its processes
 * are fenced in, is the adapter's business. Nothing here knows of runs, attempts or the store.
 */
export interface Runner {
  /** What keeps agents apart from the machine; `none` leaves them all that the server's own user may do. */
  readonly isolation: Isolation;

  /**
   * Starts the program, opens its session and applies the settings; no prompt is written yet.
   *
   * The caller stores `spec.processToken` BEFORE the call: whatever happens afterwards, `sweep` finds the process.
   * Errors: `RunnerError`, and then no process is left. After `spec.signal` has fired: kind `start_aborted`.
   */
  start(spec: SessionSpec): Promise<Session>;

  /** Runs a shell command in the surroundings of an agent, to its end. Errors: `RunnerError`, as of `start`. */
  run(spec: CommandSpec): Promise<CommandResult>;

  /** Why this machine, or this server, cannot keep an agent to that; undefined: it can. */
  problem(confinement: Confinement): string | undefined;

  /**
   * Ends every process that carries one of these tokens, and whatever descends from it: the orphans of an earlier
   * server. Resolves with how many were found, when none is left; idempotent, and cheap for tokens that nobody
   * carries (one walk over the process table for all of them). Rejects with the pids that would not die in 10 s.
   * Without isolation a process that dropped its environment AND left its family cannot be found.
   */
  sweep(tokens: Iterable<string>): Promise<number>;
}

export type Isolation = "bwrap" | "none";

/** The agent program, as data: the same driver starts all that speak its protocol. */
export interface AgentProgram {
  /** What it speaks over stdio; `codex`: the app server's own protocol. */
  readonly protocol: "acp" | "codex";
  /** Absolute, or a name to look for in PATH. Not found: `agent_not_installed`, fatal. */
  readonly command: string;
  readonly args: readonly string[];
  /** All it gets beside PATH, LANG, HOME and RETINUE_PROCESS_TOKEN; it may override the first two. */
  readonly env: Readonly<Record<string, string>>;
  /** Of the values in `env` those that nobody may see: keys of its model. */
  readonly secrets?: readonly string[] | undefined;
  /** Files and folders it cannot do without, shown read-only even where they lie below something hidden. */
  readonly readable?: readonly string[] | undefined;
  /** Variables that name folders of its own, each given relative to its home. Made before it starts. */
  readonly homeFolders?: Readonly<Record<string, string>> | undefined;
  /** `_meta` for the opening of the session, for what a program takes nowhere else. */
  readonly sessionMeta?: ((opening: SessionOpening) => Readonly<Record<string, unknown>>) | undefined;
  /** What of an opening reaches the model; the rest is left to prompts and tools. */
  readonly takes: { readonly instructions: boolean; readonly outputSchema: boolean };
  /** An `end_turn` without usage is a failed model call in disguise (codex-acp). */
  readonly emptyUsageIsFailure?: boolean | undefined;
}

/** Given to a session when it is opened, for as long as its process lives. */
export interface SessionOpening {
  /** Added to the program's own; empty: none. */
  readonly instructions: string;
  /** JSON Schema of the structured result; empty: none. */
  readonly outputSchema: string;
}

/** What a process of an agent finds around it. */
export interface Surroundings {
  readonly uid: string;
  /** Work folder. Like `home` it is created if missing, and must lie below `<agents folder>/<uid>`, links resolved. */
  readonly cwd: string;
  /** HOME of the program; sessions live here, so it has to stay for as long as the agent. */
  readonly home: string;
  /** Unique per process, `[A-Za-z0-9._-]{8,128}`; no secret. */
  readonly processToken: string;
  /** Files and folders that must not be visible: the data folder. Without isolation this cannot be kept. */
  readonly hide: readonly string[];
  /** Shown read-only even below something hidden, beside what the program itself needs. */
  readonly readable?: readonly string[] | undefined;
  /** Of its environment; what the program itself must have wins. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Values that no message may show. */
  readonly secrets?: readonly string[] | undefined;
  /** Default: as the server is set up. */
  readonly confinement?: Confinement | undefined;
}

export interface CommandSpec extends Surroundings {
  /** Given to `/bin/sh`. */
  readonly command: string;
  readonly timeoutMs: number;
  /** Both of its outputs, as they come. */
  readonly onOutput: (text: string) => void;
  readonly signal: AbortSignal;
}

export interface CommandResult {
  readonly ended: "exited" | "timeout" | "aborted";
  readonly code: number;
}

export interface SessionSpec extends Surroundings, SessionOpening {
  readonly program: AgentProgram;
  /** Session to go on with. Where the program cannot, a new one is opened: see `Session.resumed`. */
  readonly sessionRef?: string | undefined;
  /** The `costSoFar` last reported for `sessionRef`: programs go on counting from it, or begin again. */
  readonly costSoFar?: number | undefined;
  /** How the agent talks back. The key is shown to this process alone and never logged. */
  readonly mcp: { readonly url: string; readonly key: string };
  readonly settings: TurnSettings;
  readonly limits?: Partial<Limits> | undefined;
  /** Answers permission requests at once; by default `allowOwnTools`. */
  readonly permit?: PermissionPolicy | undefined;
  /** Ends a start that is under way. */
  readonly signal?: AbortSignal | undefined;
}

/** Empty: left to the program. */
export interface TurnSettings {
  readonly model: string;
  readonly reasoningEffort: string;
  readonly serviceTier: string;
  readonly fastMode: boolean;
}

export interface Limits {
  /** Longest line on the program's output. Default 8 MiB. */
  readonly lineBytes: number;
  /** Most bytes, stderr included, between one prompt and the next. Default 256 MiB. */
  readonly outputBytes: number;
  /** Most of these that are no message at all. Default 4 MiB. */
  readonly junkBytes: number;
  /** Longest start, up to the applied settings. Default 60 s. */
  readonly startMs: number;
  /** How long `close` waits after the end of input, and again after TERM. Defaults 5 s and 2 s. */
  readonly closeMs: number;
  readonly termMs: number;
}

/** An agent process with an open session. */
export interface Session {
  /** Names the session to a later process. Stored before the first prompt. */
  readonly sessionRef: string;
  /** Whether this is the session of `spec.sessionRef`; false: the program remembers nothing. */
  readonly resumed: boolean;
  /** Name and version that the program gave itself. */
  readonly build: string;
  /** For the store: pid and start time tell people, the token tells `sweep`. */
  readonly process: ProcessRef;

  /**
   * Sets what differs from the program's own state, model first. Idempotent, and without a round trip when nothing
   * differs. Returns the settings that the program has no option for. A refused value: `RunnerError`
   * `setting_refused`, fatal. Never during a turn.
   */
  apply(settings: TurnSettings): Promise<readonly (keyof TurnSettings)[]>;

  /**
   * One turn. `onUpdate` is called in the order of the program's messages, never after the promise has settled; it
   * must not throw (the promise rejects with what it threw, after the turn). A turn that goes wrong is a result, not a
   * rejection; so is a process that is gone. Rejects when a turn is held already: one at a time.
   */
  prompt(prompt: Prompt, onUpdate: (update: Update) => void): Promise<TurnResult>;

  /**
   * Asks the program to end the turn; resolves when the turn HAS ended, which a program that ignores it delays until
   * `kill`. Without a turn: nothing is sent. Never rejects.
   */
  cancel(): Promise<void>;

  /** End of input, then TERM, then `kill`. Resolves when the whole tree is gone. Idempotent. */
  close(): Promise<void>;

  /**
   * Ends the whole process tree at once, setsid or not; resolves when it is gone. Idempotent. Rejects with the pids
   * that would not die in 10 s; to be called again then.
   */
  kill(): Promise<void>;

  /** When the process has ended, for whatever reason, and what it left behind has been ended too. Never rejects. */
  readonly exited: Promise<ExitInfo>;
}

export interface ProcessRef {
  readonly pid: number;
  /** As the kernel counts (ticks since boot); empty where there is no /proc. */
  readonly startTime: string;
  readonly token: string;
}

export interface ExitInfo {
  /** Null when a signal ended it. Under bwrap a signal shows as 128 + its number. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly cause: ExitCause;
  /** One sentence, with the last words. */
  readonly message: string;
  /** The last 64 KiB; never interpreted. */
  readonly stderr: string;
  /** What could not be ended. */
  readonly survivors: readonly number[];
}

/** `exited`: by itself. */
export type ExitCause = "exited" | "closed" | "killed" | "output_limit" | "output_closed" | "start_failed";

/**
 * What a turn is given. Who speaks matters: text of the platform (news, reminders, "continue") may quote anybody, so
 * nothing in it may be taken for the words of the caller.
 */
export interface Prompt {
  /** Tells a further prompt of the same run (continue, reminder, repair) from a new run. */
  readonly runId: number;
  /** In order; empty texts are left out. */
  readonly parts: readonly PromptPart[];
}

export interface PromptPart {
  /** `caller` also for a parent that speaks through its tool. */
  readonly from: "caller" | "platform";
  readonly text: string;
}

/** Tokens and dollars to ADD: nothing is reported twice, nothing is negative. */
export interface UsageDelta {
  /** Without cache reads. */
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
}

export type Update =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thought"; readonly text: string }
  | {
      readonly type: "toolCall";
      readonly id: string;
      readonly title: string;
      readonly kind: string;
      readonly input: unknown;
    }
  | { readonly type: "toolResult"; readonly id: string; readonly failed: boolean; readonly output: string }
  /** The whole list each time. Progress to show, not the checklist. */
  | { readonly type: "plan"; readonly entries: readonly PlanEntry[] }
  /** Money as it is spent; tokens come with the result. `costSoFar` is the session's own count, for the next spec. */
  | {
      readonly type: "usage";
      readonly usage: UsageDelta;
      readonly costSoFar: number;
      readonly contextUsed: number;
      readonly contextSize: number;
    }
  /** Already decided, by `spec.permit`; `cancelled` while the turn is being cancelled. */
  | {
      readonly type: "permission";
      readonly request: PermissionRequest;
      readonly decision: Decision | "cancelled";
    };

export interface PlanEntry {
  readonly content: string;
  readonly status: string;
  readonly priority: string;
}

export interface PermissionRequest {
  readonly toolCallId: string;
  /** Name of the tool, where the program tells it; else empty. */
  readonly tool: string;
  /** For people: often made by the model, so no ground for a decision unless it is matched whole. */
  readonly title: string;
  readonly kind: string;
  readonly input: unknown;
}

export type Decision = "allow" | "reject";
export type PermissionPolicy = (request: PermissionRequest) => Decision;

export interface TurnResult {
  readonly outcome: TurnOutcome;
  /** Set unless completed or cancelled. */
  readonly error?: TurnError | undefined;
  /** What no update has reported yet: the tokens of the turn. */
  readonly usage?: UsageDelta | undefined;
  /** The structured result, where the program gives one by itself. */
  readonly output?: unknown;
}

/** `limit`: the model's length or step limit. `failed`: an error of program or backend; also a process that is gone. */
export type TurnOutcome = "completed" | "cancelled" | "refused" | "limit" | "failed";
