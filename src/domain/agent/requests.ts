import { type Duration, durationMs, type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { BudgetLimits as BudgetLimitsMessage } from "../../../gen/retinue/v1/agent_pb.js";
import type { QueueFollowUpRequest, SpawnAgentRequest } from "../../../gen/retinue/v1/agent_service_pb.js";
import type { BudgetLimits } from "./budget.js";
import type { FollowUpRequest } from "./follow-up.js";
import type { SettingFields } from "./settings.js";
import type { SpawnRequest } from "./spawn.js";

/** Requests as the rules take them: times in milliseconds, counts as numbers, the agent left to the caller. */
export function followUpRequestOf(message: QueueFollowUpRequest): FollowUpRequest {
  const { followUpId, description, tasks, agent, preempt } = message;
  const deliverAtMs = msOf(message.deliverAt);
  return { ...settingsOf(message), followUpId, description, tasks, agent, preempt, deliverAtMs };
}

export function spawnRequestOf(message: SpawnAgentRequest): SpawnRequest {
  const { description, expectedOutput, tasks, agent, environment, labels, idlePolicy } = message;
  const rest = { description, expectedOutput, tasks, agent, environment, labels, idlePolicy };
  const budget = message.budget && budgetOf(message.budget);
  return { ...settingsOf(message), ...rest, startAtMs: msOf(message.startAt), budget };
}

export function budgetOf({
  maxCostUsd,
  maxTokens,
  maxTurns,
  maxWallTime,
}: BudgetLimitsMessage): BudgetLimits {
  return {
    maxCostUsd,
    maxTokens: maxTokens === undefined ? undefined : Number(maxTokens),
    maxTurns: maxTurns === undefined ? undefined : Number(maxTurns),
    maxWallTimeMs: durationOf(maxWallTime),
  };
}

function settingsOf(message: QueueFollowUpRequest | SpawnAgentRequest): SettingFields {
  const { model, reasoningEffort, serviceTier, fastMode, outputSchema } = message;
  return { model, reasoningEffort, serviceTier, fastMode, outputSchema };
}

function msOf(timestamp: Timestamp | undefined): number | undefined {
  return timestamp && timestampMs(timestamp);
}

function durationOf(duration: Duration | undefined): number | undefined {
  return duration && durationMs(duration);
}
