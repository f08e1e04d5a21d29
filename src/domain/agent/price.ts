import type { ModelPrices } from "../../../gen/retinue/v1/catalog_pb.js";
import type { Usage } from "./budget.js";

const TOKENS_PER_PRICE = 1_000_000;

/** What tokens cost by a model's prices, in US dollars; nothing where nobody has set them. */
export function priceOf(usage: Usage, prices: ModelPrices | undefined): number {
  if (prices === undefined) return 0;
  const { inputTokens, cachedInputTokens, outputTokens } = usage;
  const sum =
    inputTokens * prices.input + cachedInputTokens * prices.cachedInput + outputTokens * prices.output;
  return sum / TOKENS_PER_PRICE;
}
