import type { Update } from "../runner.js";
import type { CostMeter } from "./cost-meter.js";
import { list, number, record, text } from "./json.js";
import { createToolCalls, type ToolCalls } from "./tool-calls.js";

/** Reads `session/update` of one session. */
export interface UpdateReader {
  /** A kind that we do not know means nothing to us: the list of kinds grows. */
  read(params: unknown): Update[];
  readonly tools: ToolCalls;
  /** Money of updates that came while no turn was held; asking takes it. */
  takeUnreported(): number;
}

interface Reading {
  readonly sessionRef: () => string | undefined;
  readonly cost: CostMeter;
  /** Whether a turn is held: whoever gets the updates is there. */
  readonly inTurn: () => boolean;
  readonly onConfigOptions: (options: unknown) => void;
}

export function createUpdateReader({ sessionRef, cost, inTurn, onConfigOptions }: Reading): UpdateReader {
  const tools = createToolCalls();
  let unreported = 0;

  const usage = (update: Readonly<Record<string, unknown>>): Update[] => {
    const { amount, currency } = record(update.cost);
    if (typeof amount === "number" && currency === "USD") unreported += cost.read(amount);
    if (!inTurn()) return [];
    const delta = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, cost: unreported };
    unreported = 0;
    return [
      {
        type: "usage",
        usage: delta,
        costSoFar: cost.total(),
        contextUsed: number(update.used),
        contextSize: number(update.size),
      },
    ];
  };

  return {
    tools,
    takeUnreported() {
      const taken = unreported;
      unreported = 0;
      return taken;
    },
    read(params) {
      const { sessionId, update: raw } = record(params);
      // Sub-agents of a program have sessions of their own.
      if (sessionRef() !== undefined && sessionId !== sessionRef()) return [];
      const update = record(raw);
      switch (update.sessionUpdate) {
        case "agent_message_chunk":
          return words("text", update.content);
        case "agent_thought_chunk":
          return words("thought", update.content);
        case "tool_call":
        case "tool_call_update":
          return tools.read(update);
        case "plan":
          return [{ type: "plan", entries: list(update.entries).map(planEntry) }];
        case "usage_update":
          return usage(update);
        case "config_option_update":
          onConfigOptions(update.configOptions);
          return [];
        default:
          return [];
      }
    },
  };
}

function words(type: "text" | "thought", content: unknown): Update[] {
  const said = text(record(content).text);
  return said === "" ? [] : [{ type, text: said }];
}

function planEntry(value: unknown) {
  const entry = record(value);
  return { content: text(entry.content), status: text(entry.status), priority: text(entry.priority) };
}
