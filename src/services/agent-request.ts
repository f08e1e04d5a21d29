import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { BudgetLimits as BudgetMessage } from "../../gen/retinue/v1/agent_pb.js";
import type { QueueFollowUpRequest, SpawnAgentRequest } from "../../gen/retinue/v1/agent_service_pb.js";
import type { BudgetLimits } from "../domain/agent/budget.js";
import type { FollowUpRequest } from "../domain/agent/follow-up.js";
import type { SpawnRequest } from "../domain/agent/spawn.js";

/** Requests as the rules take them: plain numbers and milliseconds. */
export function spawnRequestOf(message: SpawnAgentRequest): SpawnRequest {
  return {
    description: message.description,
    expectedOutput: message.expectedOutput,
    tasks: message.tasks,
    agent: message.agent,
    model: message.model,
    reasoningEffort: message.reasoningEffort,
    serviceTier: message.serviceTier,
    fastMode: message.fastMode,
    outputSchema: message.outputSchema,
    environment: message.environment,
    labels: message.labels,
    startAtMs: message.startAt && timestampMs(message.startAt),
    idlePolicy: message.idlePolicy,
    budget: budgetOf(message.budget),
  };
}

export function followUpRequestOf(message: QueueFollowUpRequest): FollowUpRequest {
  return {
    followUpId: message.followUpId,
    description: message.description,
    tasks: message.tasks,
    agent: message.agent,
    model: message.model,
    reasoningEffort: message.reasoningEffort,
    serviceTier: message.serviceTier,
    fastMode: message.fastMode,
    outputSchema: message.outputSchema,
    preempt: message.preempt,
    deliverAtMs: message.deliverAt && timestampMs(message.deliverAt),
  };
}

export function budgetOf(message: BudgetMessage | undefined): BudgetLimits | undefined {
  if (message === undefined) return undefined;
  const { maxCostUsd, maxTokens, maxTurns, maxWallTime } = message;
  return {
    maxCostUsd,
    maxTokens: maxTokens === undefined ? undefined : Number(maxTokens),
    maxTurns: maxTurns === undefined ? undefined : Number(maxTurns),
    maxWallTimeMs: maxWallTime && durationMs(maxWallTime),
  };
}
