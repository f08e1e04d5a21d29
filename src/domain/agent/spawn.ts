import { IdlePolicy, Phase } from "../../../gen/retinue/v1/agent_pb.js";
import { EventType } from "../../../gen/retinue/v1/event_pb.js";
import { resourceExhausted } from "../fault.js";
import type { Agent, AgentKey, Runtime } from "./agent.js";
import { type BudgetLimits, NO_USAGE, NOTHING_SPENT } from "./budget.js";
import { checkBudget } from "./budget-check.js";
import { type Context, type Decision, decided, openDraft, record } from "./decision.js";
import { digest, taskKey } from "./follow-up.js";
import type { SettingFields, SettingsState } from "./settings.js";
import type { TaskInput } from "./task.js";
import { acceptTasks } from "./task-input.js";
import { addPersonaTasks, addTasks } from "./task-list.js";
import { checkText } from "./text.js";

/** The request of spawn, without the agent's path. */
export interface SpawnRequest extends SettingFields {
  readonly description: string;
  readonly expectedOutput: string;
  readonly tasks: readonly TaskInput[];
  readonly agent: string;
  readonly environment: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly startAtMs: number | undefined;
  readonly idlePolicy: IdlePolicy;
  readonly budget: BudgetLimits | undefined;
}

export interface Spawn {
  readonly uid: string;
  readonly key: AgentKey;
  /** Empty for a root. */
  readonly parentUid: string;
  readonly request: SpawnRequest;
  /** The environment that was selected. */
  readonly environment: string;
  /** From `spawnSettings`. */
  readonly settings: SettingsState;
  /** What the profile promises until the first run tells. */
  readonly runtime: Runtime;
}

/** A new agent, PENDING, with its description as message 0. `requireSpawnable` comes before it. */
export function spawnAgent(spawn: Spawn, context: Context): Decision {
  const { request } = spawn;
  checkText("description", request.description, request.tasks, context.limits);
  checkText("expectedOutput", request.expectedOutput, ["optional"], context.limits);
  checkLabels(request.labels, context.limits.labels);
  checkBudget(request.budget);
  const draft = openDraft(newAgent(spawn, context.nowMs));
  const { description, expectedOutput } = request;
  record(draft, EventType.AGENT_SPAWNED, { case: "spawned", value: { description, expectedOutput } });
  addTasks(draft, acceptTasks(draft, request.tasks, context.limits));
  addPersonaTasks(draft, spawn.settings.persona);
  return decided(draft, undefined);
}

export function checkLabels(labels: Readonly<Record<string, string>>, limit: number): void {
  const count = Object.keys(labels).length;
  if (count > limit)
    throw resourceExhausted("LABELS_FULL", `labels: ${count} are too many; at most ${limit}`);
}

function newAgent({ uid, key, parentUid, request, ...spawn }: Spawn, nowMs: number): Agent {
  const byDefault = parentUid === "" ? IdlePolicy.REST : IdlePolicy.COMPLETE;
  return {
    uid,
    key,
    parentUid,
    description: request.description,
    expectedOutput: request.expectedOutput,
    environment: spawn.environment,
    labels: request.labels,
    idlePolicy: request.idlePolicy === IdlePolicy.UNSPECIFIED ? byDefault : request.idlePolicy,
    startAtMs: request.startAtMs,
    createdAtMs: nowMs,
    startedAtMs: undefined,
    progressAtMs: nowMs,
    endedAtMs: undefined,
    phase: Phase.PENDING,
    phaseSinceMs: nowMs,
    needsInput: undefined,
    runCount: 0,
    turn: undefined,
    lastTurn: undefined,
    lastWord: undefined,
    structuredOutput: undefined,
    lastError: undefined,
    queued: [],
    deferred: [],
    tasks: [],
    settings: spawn.settings,
    usage: NO_USAGE,
    budget: request.budget,
    overdrawnBy: "",
    children: [],
    endedChildrenSpent: NOTHING_SPENT,
    failures: 0,
    recoveries: 0,
    kill: undefined,
    runtime: spawn.runtime,
    counters: { arrivals: 0, places: 0, tasks: 0 },
  };
}

/** All fields, the agent as resolved: two requests under one `requestId` are the same exactly when this is. */
export function spawnFingerprint(key: AgentKey, request: SpawnRequest): string {
  const { tenant, ownerProvider, account, workspace, path } = key;
  const { budget } = request;
  return digest([
    [tenant, ownerProvider, account, workspace, path],
    [request.description, request.expectedOutput, request.tasks.map(taskKey), request.agent],
    [request.model, request.reasoningEffort, request.serviceTier, request.fastMode ?? null],
    [request.outputSchema, request.environment, Object.entries(request.labels).sort(), request.idlePolicy],
    [
      request.startAtMs ?? null,
      budget && [budget.maxCostUsd, budget.maxTokens, budget.maxTurns, budget.maxWallTimeMs],
    ],
  ]);
}
