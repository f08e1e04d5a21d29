import assert from "node:assert/strict";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Provider } from "../../../gen/retinue/v1/agent_id_pb.js";
import { IdlePolicy, Phase, TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import { StopTurnMode } from "../../../gen/retinue/v1/agent_service_pb.js";
import { EventType } from "../../../gen/retinue/v1/event_pb.js";
import { SettingSource } from "../../../gen/retinue/v1/settings_pb.js";
import { TaskStatus } from "../../../gen/retinue/v1/task_pb.js";
import type { Agent, AgentError } from "../../../src/domain/agent/agent.js";
import { childNotified, childSpawned } from "../../../src/domain/agent/children.js";
import type { Context, Decision, DomainEvent } from "../../../src/domain/agent/decision.js";
import type { FollowUpRequest } from "../../../src/domain/agent/follow-up.js";
import { invariantViolations } from "../../../src/domain/agent/invariants.js";
import { DEFAULT_LIMITS } from "../../../src/domain/agent/limits.js";
import { queuePlatformMessage } from "../../../src/domain/agent/platform-message.js";
import { type QueueAdd, queueAdd, type Receipt } from "../../../src/domain/agent/queue-add.js";
import { NO_SETTINGS } from "../../../src/domain/agent/settings.js";
import {
  type PersonaDocument,
  type SettingsKnowledge,
  type SpawnSettings,
  spawnSettings,
} from "../../../src/domain/agent/settings-check.js";
import { slotGranted } from "../../../src/domain/agent/settle.js";
import { type SpawnRequest, spawnAgent } from "../../../src/domain/agent/spawn.js";
import { stopTurn } from "../../../src/domain/agent/stop-turn.js";
import type { TaskInput } from "../../../src/domain/agent/task.js";
import type { Fence } from "../../../src/domain/agent/turn.js";
import { type TurnEnded, turnEnded } from "../../../src/domain/agent/turn-ended.js";
import { type LossType, turnLost } from "../../../src/domain/agent/turn-loss.js";
import { askedInput, declaredDone, promptSent } from "../../../src/domain/agent/turn-report.js";
import { backendOfModelName } from "../../../src/domain/backends/index.js";
import { Fault } from "../../../src/domain/fault.js";

export const T0 = 1_800_000_000_000;
export const DAY = 86_400_000;

export function at(nowMs = T0, more: Partial<Context> = {}): Context {
  return { nowMs, limits: DEFAULT_LIMITS, slotWanted: false, ancestors: [], ...more };
}

/** Every model by its name's rule; no output schema has anything wrong with it. */
export const KNOWN: SettingsKnowledge = { backendOf: backendOfModelName, schemaViolation: undefined };

export function persona(name: string, more: Partial<PersonaDocument> = {}): PersonaDocument {
  return { name, generation: 1, outputSchema: "", tasks: [], ...more };
}

export function task(id: string, more: Partial<TaskInput> = {}): TaskInput {
  return {
    id,
    subject: `do ${id}`,
    description: "",
    status: TaskStatus.UNSPECIFIED,
    blocks: [],
    blockedBy: [],
    persona: "",
    dedupKey: "",
    ephemeral: false,
    ...more,
  };
}

export function onPush(id: string, pattern: string): TaskInput {
  return task(id, { activation: { condition: { case: "filesModified", value: { pattern } } } });
}

const REQUEST: SpawnRequest = {
  ...NO_SETTINGS,
  description: "build it",
  expectedOutput: "",
  tasks: [],
  agent: "",
  environment: "",
  labels: {},
  startAtMs: undefined,
  idlePolicy: IdlePolicy.UNSPECIFIED,
  budget: undefined,
};

export interface SpawnOptions extends Partial<SpawnRequest> {
  readonly path?: readonly string[];
  readonly uid?: string;
  readonly settings?: Partial<SpawnSettings>;
  readonly capabilities?: readonly string[];
}

export function spawnDecision(options: SpawnOptions = {}, context = at()): Decision {
  const {
    path = ["root"],
    uid = path.join("."),
    settings,
    capabilities = ["deferral"],
    ...request
  } = options;
  const { model, reasoningEffort, serviceTier, fastMode, outputSchema } = { ...REQUEST, ...request };
  return spawnAgent(
    {
      uid,
      key: {
        tenant: "codehost_app/local",
        ownerProvider: Provider.CODEHOST_OAUTH,
        account: "ann",
        workspace: "main",
        path,
      },
      parentUid: path.slice(0, -1).join("."),
      request: { ...REQUEST, ...request },
      environment: "default",
      settings: spawnSettings(
        {
          explicit: { model, reasoningEffort, serviceTier, fastMode, outputSchema },
          persona: persona("default", { generation: 0 }),
          personaSource: SettingSource.DEFAULT,
          workspace: undefined,
          parent: undefined,
          defaultModel: "script-a",
          ...settings,
        },
        KNOWN,
        context.limits,
      ),
      runtime: { runnerId: "", build: "scripted", capabilities, isolation: "none" },
    },
    context,
  );
}

/** PENDING. */
export function spawned(options: SpawnOptions = {}, context = at()): Agent {
  return sound(spawnDecision(options, context)).agent;
}

/** RUNNING, its turn STARTING. */
export function starting(options: SpawnOptions = {}, context = at()): Agent {
  return start(spawned(options, context), context);
}

/** RUNNING, its turn RUNNING. */
export function running(options: SpawnOptions = {}, context = at()): Agent {
  return prompted(starting(options, context), context);
}

/** WAITING_FOR_INPUT after a plain first turn. */
export function resting(options: SpawnOptions = {}, context = at()): Agent {
  return end(running(options, context), {}, context).agent;
}

/** The turn RUNNING → RECOVERING. */
export function recovering(options: SpawnOptions = {}, context = at()): Agent {
  return lose(running(options, context), "outage", context).agent;
}

export function interrupting(options: SpawnOptions = {}, context = at()): Agent {
  return stop(running(options, context), StopTurnMode.INTERRUPT, context).agent;
}

export function start(agent: Agent, context = at()): Agent {
  const decision = sound(slotGranted(agent, context));
  assert.ok(decision.reply, "the slot was taken");
  return decision.agent;
}

export function fenceOf(agent: Agent): Fence {
  assert.ok(agent.turn, "a turn is held");
  return { runId: agent.turn.runId, attempt: agent.turn.attempt };
}

export function prompted(agent: Agent, context = at()): Agent {
  return sound(promptSent(agent, fenceOf(agent), context)).agent;
}

/** The turn that is held ends, its prompt sent first where it was not. */
export function end(
  agent: Agent,
  more: Partial<TurnEnded> = {},
  context = at(),
): ReturnType<typeof turnEnded> {
  const sent = agent.turn?.state === TurnState.STARTING ? prompted(agent, context) : agent;
  return sound(turnEnded(sent, { ...fenceOf(sent), summary: "", ...more }, context));
}

export function ask(agent: Agent, question = "which one?", context = at()): Agent {
  return sound(askedInput(agent, { ...fenceOf(agent), question }, context)).agent;
}

export function done(agent: Agent, result = "all good", context = at()): Agent {
  return sound(declaredDone(agent, { ...fenceOf(agent), result }, context)).agent;
}

export const EXITED: AgentError = { kind: "agent_exited", message: "exited with 1", retryable: true };

export function lose(agent: Agent, loss: LossType, context = at()): ReturnType<typeof turnLost> {
  return sound(turnLost(agent, { ...fenceOf(agent), loss, error: EXITED }, context));
}

export function stop(agent: Agent, mode: StopTurnMode, context = at()): Decision {
  return sound(stopTurn(agent, { runId: BigInt(agent.turn?.runId ?? 1), mode }, context));
}

const FOLLOW_UP: FollowUpRequest = {
  ...NO_SETTINGS,
  followUpId: "",
  description: "and now this",
  tasks: [],
  agent: "",
  preempt: false,
  deliverAtMs: undefined,
};

export function followUp(followUpId: string, more: Partial<FollowUpRequest> = {}): FollowUpRequest {
  return { ...FOLLOW_UP, followUpId, ...more };
}

export function queue(
  agent: Agent,
  request: FollowUpRequest,
  context = at(),
  more: Partial<QueueAdd> = {},
): Decision<Receipt> {
  return sound(
    queueAdd(
      agent,
      {
        request,
        sender: "codehost_oauth/ann",
        mintedId: "minted",
        existing: undefined,
        persona: undefined,
        known: KNOWN,
        ...more,
      },
      context,
    ),
  );
}

/** Queues messages by their IDs. */
export function queueAll(agent: Agent, ids: readonly string[], context = at()): Agent {
  return ids.reduce((next, id) => queue(next, followUp(id), context).agent, agent);
}

export function platform(
  agent: Agent,
  followUpId: string,
  keys: readonly string[] = [],
  context = at(),
): Agent {
  const tasks = keys.map((dedupKey) => ({ subject: followUpId, description: "", dedupKey, ephemeral: true }));
  const message = { followUpId, description: "a review", tasks };
  return sound(queuePlatformMessage(agent, { message, existing: undefined }, context)).agent;
}

export function withChild(parent: Agent, name: string, context = at()): Agent {
  const path = [...parent.key.path, name];
  return sound(childSpawned(parent, { uid: path.join("."), path, budget: undefined }, context)).agent;
}

/** The child's phase changes are told to its parent. */
export function tell(parent: Agent, child: Decision<unknown>, context = at()): Agent {
  return child.toParent.reduce(
    (next, notice, i) =>
      sound(
        childNotified(
          next,
          { notice, followUpId: `news-${notice.child.uid}-${next.counters.arrivals}-${i}` },
          context,
        ),
      ).agent,
    parent,
  );
}

/** Every decision that a test makes keeps the invariants, and a terminal phase is its last event. */
export function sound<R, D extends Decision<R>>(decision: D): D {
  assert.deepEqual(invariantViolations(decision.agent), []);
  const ended = decision.events.findIndex(isTerminalEvent);
  assert.ok(ended === -1 || ended === decision.events.length - 1, "the terminal phase is the last event");
  return decision;
}

function isTerminalEvent(event: DomainEvent): boolean {
  return event.detail.case === "phase" && (event.detail.value?.to ?? 0) >= Phase.COMPLETED;
}

export function typesOf(decision: Decision<unknown>): string[] {
  return decision.events.map(({ type }) => EventType[type]);
}

/** `FOLLOW_UP_CLEARED a`, for each event about a message. */
export function followUpEvents(decision: Decision<unknown>): string[] {
  return decision.events.flatMap(({ type, detail }) =>
    detail.case === "followUp" ? [`${EventType[type]} ${detail.value?.followUp?.followUpId}`] : [],
  );
}

export function idsOf(list: readonly { readonly followUpId: string }[]): string[] {
  return list.map(({ followUpId }) => followUpId);
}

export interface Refusal {
  readonly code: Code;
  readonly reason: string;
  readonly metadata?: Record<string, string>;
  readonly field?: string;
}

export function refuses(act: () => unknown, expected: Refusal): void {
  assert.throws(act, (error) => {
    assert.ok(error instanceof Fault, `a Fault, not ${String(error)}`);
    assert.equal(Code[error.code], Code[expected.code]);
    assert.equal(error.reason, expected.reason);
    if (expected.metadata !== undefined) assert.deepEqual(error.details.metadata, expected.metadata);
    if (expected.field !== undefined) assert.equal(error.details.violations?.[0]?.field, expected.field);
    return true;
  });
}
