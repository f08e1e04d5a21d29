import { type JsonRecord, number, record } from "../acp/json.js";
import type { UsageDelta } from "../runner.js";

/** Turns a thread's running total of tokens into what has been added since the last look: never negative. */
export interface TokenMeter {
  read(tokenUsage: JsonRecord, inTurn: boolean): UsageDelta;
}

type Counts = Record<"input" | "cached" | "output", number>;

/**
 * A resumed thread goes on counting, or begins again after a crash: of the first report of a process only the last
 * model call counts, and a total that fell is a new beginning.
 */
export function createTokenMeter(): TokenMeter {
  let before: Counts | undefined;
  return {
    read(tokenUsage, inTurn) {
      const total = countsOf(tokenUsage.total);
      const last = countsOf(tokenUsage.last);
      const begun = before === undefined || total.input < before.input || total.output < before.output;
      const base = begun || before === undefined ? minus(total, last) : before;
      before = total;
      // A report outside of a turn repeats what an earlier process has told.
      const { input, cached, output } = inTurn ? minus(total, base) : countsOf({});
      return { inputTokens: input - cached, cachedInputTokens: cached, outputTokens: output, cost: 0 };
    },
  };
}

function countsOf(usage: unknown): Counts {
  const { inputTokens, cachedInputTokens, outputTokens } = record(usage);
  return {
    input: number(inputTokens),
    // Part of the input; one that claims more would make the rest negative.
    cached: Math.min(number(cachedInputTokens), number(inputTokens)),
    output: number(outputTokens),
  };
}

function minus(a: Counts, b: Counts): Counts {
  const input = Math.max(0, a.input - b.input);
  return {
    input,
    cached: Math.min(input, Math.max(0, a.cached - b.cached)),
    output: Math.max(0, a.output - b.output),
  };
}
