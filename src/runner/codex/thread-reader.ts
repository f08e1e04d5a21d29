import { type JsonRecord, list, number, record, text } from "../acp/json.js";
import type { Update } from "../runner.js";
import { toolCall, toolResult } from "./items.js";
import type { TokenMeter } from "./token-meter.js";

/** Reads the notifications of one thread. */
export interface ThreadReader {
  read(method: string, params: JsonRecord, inTurn: boolean): Update[];
  /** What was told of an item of this turn. */
  item(id: string): JsonRecord | undefined;
  /** The last whole message of this turn. */
  lastMessage(): string;
  /** A new turn begins. */
  reset(): void;
}

export function createThreadReader(tokens: TokenMeter): ThreadReader {
  const items = new Map<string, JsonRecord>();
  /** Messages of which something has been told already. */
  const streamed = new Set<string>();
  let last = "";

  const completed = (item: JsonRecord): Update[] => {
    if (item.type !== "agentMessage") return toolResult(item);
    last = text(item.text);
    return streamed.has(text(item.id)) || last === "" ? [] : [{ type: "text", text: last }];
  };

  return {
    item: (id) => items.get(id),
    lastMessage: () => last,
    reset() {
      items.clear();
      streamed.clear();
      last = "";
    },
    read(method, params, inTurn) {
      const item = record(params.item);
      switch (method) {
        case "item/agentMessage/delta":
          streamed.add(text(params.itemId));
          return [{ type: "text", text: text(params.delta) }];
        case "item/reasoning/summaryTextDelta":
        case "item/reasoning/textDelta":
          return [{ type: "thought", text: text(params.delta) }];
        case "item/started":
          items.set(text(item.id), item);
          return toolCall(item);
        case "item/completed":
          return completed(item);
        case "turn/plan/updated":
          return [{ type: "plan", entries: list(params.plan).map(planEntry) }];
        case "thread/tokenUsage/updated": {
          const told = record(params.tokenUsage);
          const usage = tokens.read(told, inTurn);
          const contextUsed = number(record(told.last).totalTokens);
          const contextSize = number(told.modelContextWindow);
          return [{ type: "usage", usage, costSoFar: 0, contextUsed, contextSize }];
        }
        default:
          // The list of notifications grows.
          return [];
      }
    },
  };
}

function planEntry(value: unknown) {
  const { step, status } = record(value);
  return {
    content: text(step),
    status: status === "inProgress" ? "in_progress" : text(status),
    priority: "",
  };
}
