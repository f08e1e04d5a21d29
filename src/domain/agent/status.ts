import { create, fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  type AgentStatus,
  AgentStatusSchema,
  type BudgetLimitsSchema,
  type BudgetSchema,
  Phase,
  type PhaseCountSchema,
} from "../../../gen/retinue/v1/agent_pb.js";
import { type AgentListEntry, AgentListEntrySchema } from "../../../gen/retinue/v1/agent_service_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import type { Agent } from "./agent.js";
import { agentIdMessage } from "./agent-id.js";
import { type BudgetLimits, reservedOf, type Spent, spentOf, totalTokens } from "./budget.js";
import { followUpMessage } from "./follow-up.js";
import { mayStart } from "./settle.js";
import { isLiveTask, taskMessage } from "./task.js";
import { usageMessage } from "./usage.js";

/** What a status holds that the agent does not. */
export interface StatusExtras {
  readonly nowMs: number;
  readonly lastSeq: bigint;
  readonly repos: readonly string[];
  readonly children: readonly MessageInitShape<typeof PhaseCountSchema>[];
  readonly subtreeCost: number;
  readonly dashboardUrl: string;
  /** The pool that its turns run in. */
  readonly pool: string;
}

const at = (ms: number | undefined) => (ms === undefined ? undefined : timestampFromMs(ms));

/** A message init without the fields that are undefined, as `exactOptionalPropertyTypes` wants it. */
type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

function defined<T extends object>(fields: T): Partial<Defined<T>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<
    Defined<T>
  >;
}

export function statusOf(agent: Agent, extras: StatusExtras): AgentStatus {
  const { turn, lastTurn, usage } = agent;
  const known = new Set(agent.tasks.map(({ id }) => id));
  const { inputTokens, cachedInputTokens, outputTokens, totalTokens: total, cost } = usageMessage(usage);
  return create(AgentStatusSchema, {
    agentId: agentIdMessage(agent.key, agent.uid),
    uid: agent.uid,
    phase: agent.phase,
    phaseSince: timestampFromMs(agent.phaseSinceMs),
    pendingReason: pendingReason(agent, extras),
    runCount: BigInt(agent.runCount),
    description: agent.description,
    expectedOutput: agent.expectedOutput,
    settings: agent.settings.values,
    tasks: agent.tasks.filter(isLiveTask).map((task) => taskMessage(task, known)),
    followUps: [
      ...agent.queued.map((followUp, i) => followUpMessage(followUp, FollowUpState.QUEUED, i + 1)),
      ...agent.deferred.map((followUp) => followUpMessage(followUp, FollowUpState.DEFERRED, 0)),
    ],
    needsInput: agent.needsInput?.text ?? "",
    result: agent.lastWord?.type === "complete" ? agent.lastWord.result : "",
    ...defined({ inputTokens, cachedInputTokens, outputTokens, totalTokens: total, cost }),
    subtreeCost: extras.subtreeCost,
    repos: [...extras.repos],
    children: [...extras.children],
    runtime: { ...agent.runtime, capabilities: [...agent.runtime.capabilities] },
    labels: agent.labels,
    dashboardUrl: extras.dashboardUrl,
    createdAt: timestampFromMs(agent.createdAtMs),
    lastSeq: extras.lastSeq,
    ...defined({
      budget: agent.budget && budgetMessage(agent, agent.budget, extras.nowMs),
      lastError: agent.lastError,
      nextWakeAt: at(agent.deferred[0]?.deliverAtMs),
      startedAt: at(agent.startedAtMs),
      progressAt: at(agent.progressAtMs),
      endedAt: at(agent.endedAtMs),
      structuredOutput:
        agent.structuredOutput === undefined ? undefined : fromJson(ValueSchema, agent.structuredOutput),
      turn: turn && {
        runId: BigInt(turn.runId),
        attempt: turn.attempt,
        state: turn.state,
        startedAt: timestampFromMs(turn.startedAtMs),
        followUpIds: [...turn.followUpIds],
      },
      lastTurn: lastTurn && {
        runId: BigInt(lastTurn.runId),
        outcome: lastTurn.outcome,
        summary: lastTurn.summary,
        usage: usageMessage(lastTurn.usage),
        startedAt: timestampFromMs(lastTurn.startedAtMs),
        endedAt: timestampFromMs(lastTurn.endedAtMs),
        ...defined({ error: lastTurn.error }),
      },
    }),
  });
}

function pendingReason(agent: Agent, { nowMs, pool }: StatusExtras): string {
  if (agent.phase !== Phase.PENDING) return "";
  if (!mayStart(agent, nowMs)) return `starts at ${new Date(agent.startAtMs ?? 0).toISOString()}`;
  return `waiting for a slot in pool ${pool}`;
}

function budgetMessage(
  agent: Agent,
  limits: BudgetLimits,
  nowMs: number,
): MessageInitShape<typeof BudgetSchema> {
  const wallTime = { maxWallTime: durationFromMs(nowMs - agent.createdAtMs) };
  const { maxCostUsd, maxTokens, maxTurns, maxWallTimeMs } = limits;
  return {
    limits: defined({
      maxCostUsd,
      maxTokens: maxTokens === undefined ? undefined : BigInt(maxTokens),
      maxTurns: maxTurns === undefined ? undefined : BigInt(maxTurns),
      maxWallTime: maxWallTimeMs === undefined ? undefined : durationFromMs(maxWallTimeMs),
    }),
    spent: { ...amounts(spentOf(agent)), ...wallTime },
    reserved: amounts(reservedOf(agent)),
  };
}

function amounts({ costUsd, tokens, turns }: Spent): MessageInitShape<typeof BudgetLimitsSchema> {
  return { maxCostUsd: costUsd, maxTokens: BigInt(tokens), maxTurns: BigInt(turns) };
}

/** An agent in a list. */
export function listEntryOf(
  agent: Agent,
  extras: Pick<StatusExtras, "repos" | "dashboardUrl">,
): AgentListEntry {
  return create(AgentListEntrySchema, {
    agentId: agentIdMessage(agent.key, agent.uid),
    phase: agent.phase,
    cost: agent.usage.cost,
    progressAt: timestampFromMs(agent.progressAtMs),
    repos: [...extras.repos],
    dashboardUrl: extras.dashboardUrl,
    inputTokens: BigInt(agent.usage.inputTokens),
    cachedInputTokens: BigInt(agent.usage.cachedInputTokens),
    outputTokens: BigInt(agent.usage.outputTokens),
    totalTokens: BigInt(totalTokens(agent.usage)),
    needsInput: agent.needsInput?.text ?? "",
    createdAt: timestampFromMs(agent.createdAtMs),
    phaseSince: timestampFromMs(agent.phaseSinceMs),
    parentUid: agent.parentUid,
    labels: agent.labels,
  });
}
