import type { JsonValue } from "@bufbuild/protobuf";
import type { Provider } from "../../../gen/retinue/v1/agent_id_pb.js";
import type { IdlePolicy, Phase } from "../../../gen/retinue/v1/agent_pb.js";
import type { BudgetLimits, Spent, Usage } from "./budget.js";
import type { Confinement } from "./confinement.js";
import type { FollowUp } from "./follow-up.js";
import type { SettingsState } from "./settings.js";
import type { Task } from "./task.js";
import type { EndedTurn, HeldTurn } from "./turn.js";

/**
 * An agent: everything that its rules look at, and nothing else. Immutable; a decision makes the next one
 * and keeps every part that it does not change, so that the store finds what to write by comparing
 * references. Messages that were delivered, cleared or removed are rows of the store, not part of it.
 */
export interface Agent {
  readonly uid: string;
  readonly key: AgentKey;
  /** Empty for a root. */
  readonly parentUid: string;
  /** Message 0: no follow-up, and run 1 carries it. */
  readonly description: string;
  readonly expectedOutput: string;
  readonly environment: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly idlePolicy: IdlePolicy.REST | IdlePolicy.COMPLETE;
  readonly startAtMs: number | undefined;

  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
  readonly progressAtMs: number;
  readonly endedAtMs: number | undefined;

  readonly phase: Phase;
  readonly phaseSinceMs: number;
  /** Set exactly while the phase is WAITING_FOR_INPUT. */
  readonly needsInput: NeedsInput | undefined;

  /** Number of the current or last run; 0 means that message 0 has not run. */
  readonly runCount: number;
  readonly turn: HeldTurn | undefined;
  readonly lastTurn: EndedTurn | undefined;
  /** Stands until a caller's message is delivered; runs that carry only platform messages leave it. */
  readonly lastWord: LastWord | undefined;
  readonly structuredOutput: JsonValue | undefined;
  readonly lastError: AgentError | undefined;

  /** QUEUED, in the order of delivery. */
  readonly queued: readonly FollowUp[];
  /** DEFERRED, by (deliverAtMs, arrival). */
  readonly deferred: readonly FollowUp[];
  /** In order of creation; deleted ones stay, so that their IDs stay taken. */
  readonly tasks: readonly Task[];
  readonly settings: SettingsState;

  readonly usage: Usage;
  /** Undefined: no budget of its own. */
  readonly budget: BudgetLimits | undefined;
  /** The agent above whose spent budget this one draws on; empty: none. */
  readonly overdrawnBy: string;
  /** Live children only. */
  readonly children: readonly Child[];
  readonly endedChildrenSpent: Spent;

  /** Failures of the agent process or its backend since a turn last ended. */
  readonly failures: number;
  /** Losses that are nobody's fault since the last sign of life. */
  readonly recoveries: number;
  readonly kill: KillMark | undefined;
  readonly runtime: Runtime;
  readonly counters: Counters;
}

/** Identity of an agent, resolved: nothing in it is empty but what the caller's namespace leaves empty. */
export interface AgentKey {
  /** `<provider_name>/<org>`. */
  readonly tenant: string;
  readonly ownerProvider: Provider;
  readonly account: string;
  readonly workspace: string;
  readonly path: readonly string[];
}

/** Why an agent wants its caller, and the sentence that says so. */
export interface NeedsInput {
  readonly cause: NeedsInputCause;
  readonly text: string;
}

export type NeedsInputCause =
  | "question"
  | "interrupted"
  | "killed"
  | "timed-out"
  | "budget"
  | "schema"
  | "open-tasks"
  | "child"
  | "plain-end";

export type LastWord =
  /** `permission`: fingerprint of what a tool was refused, and the caller may allow. */
  | { readonly type: "ask"; readonly question: string; readonly permission?: string | undefined }
  | { readonly type: "complete"; readonly result: string };

/** What a parent keeps of a live child: enough to rest, to be killed and to know its budget. */
export interface Child {
  readonly uid: string;
  readonly name: string;
  /** What the child waits for; undefined while it moves by itself. */
  readonly waitsFor: string | undefined;
  readonly budget: BudgetLimits | undefined;
  /** Everything the child and its descendants have used, as last told. */
  readonly spent: Spent;
  /** What the child has set aside for its own children; counts here where it has no budget itself. */
  readonly reserved: Spent;
}

export interface KillMark {
  readonly atMs: number;
  /** Said when undelivered messages are cleared: `killed`, or the ancestor's failure. */
  readonly reason: string;
  /** The agent's processes are known to be gone. False in CANCELED: survivors are still hunted. */
  readonly processesGone: boolean;
}

export interface AgentError {
  readonly kind: string;
  readonly message: string;
  readonly retryable: boolean;
}

export interface Runtime {
  readonly runnerId: string;
  readonly build: string;
  readonly capabilities: readonly string[];
  /** What is in force, in words. */
  readonly isolation: string;
  /** What the agent must run in; undefined: as the server is set up. */
  readonly confinement?: Confinement | undefined;
}

/** Only ever grow: they order messages and name tasks. */
export interface Counters {
  readonly arrivals: number;
  readonly places: number;
  readonly tasks: number;
}

/** The last element of the path, what a parent calls its child. */
export function nameOf(agent: Agent): string {
  return agent.key.path.at(-1) ?? "";
}

/** Whether the description has not run yet; it runs first whatever is queued or preempts. */
export function owesMessageZero(agent: Agent): boolean {
  return agent.runCount === 0;
}
