import type { MessageInitShape } from "@bufbuild/protobuf";
import type { UsageSchema } from "../../../gen/retinue/v1/agent_pb.js";
import { totalTokens, type Usage } from "./budget.js";

export function usageMessage(usage: Usage): MessageInitShape<typeof UsageSchema> {
  return {
    inputTokens: BigInt(usage.inputTokens),
    cachedInputTokens: BigInt(usage.cachedInputTokens),
    outputTokens: BigInt(usage.outputTokens),
    totalTokens: BigInt(totalTokens(usage)),
    cost: usage.cost,
  };
}
