/**
 * A tiny "model": what it answers is written in the prompt itself. Lines of the newest user message that begin with
 * `@` are directives, all others are ignored:
 *
 *   @say TEXT             answer text
 *   @tool NAME JSON       calls a tool and ends this answer; what follows answers its result
 *   @result               answers with the text of the newest tool result
 *   @recall               answers with every earlier user message: shows that a session was resumed
 *   @hang                 begins to answer, and goes no further until the peer hangs up
 *   @error STATUS [TIMES] answers with this HTTP error, always or for the first attempts
 *   @usage IN OUT CACHED  tokens to report for this answer
 *
 * It keeps no state: which step to play is the number of tool rounds in the history, so that a conversation that is
 * resumed, retried or sent again goes on at the right place.
 */
export interface Step {
  readonly say: string[];
  readonly tools: ToolUse[];
  result: boolean;
  recall: boolean;
  hang: boolean;
  error: { readonly status: number; readonly times: number } | undefined;
  usage: { readonly input: number; readonly output: number; readonly cached: number } | undefined;
}

export interface ToolUse {
  readonly name: string;
  readonly input: unknown;
}

/** What the model sees of a conversation. */
export interface History {
  /** Oldest first. */
  readonly userTexts: string[];
  /** Those since the model's last answer: a message may come in several, with notes of the service among them. */
  fresh: string[];
  /** Tool rounds since the newest of them. */
  rounds: number;
  lastResult: string;
}

export interface Reply extends Pick<Step, "tools" | "hang" | "error" | "usage"> {
  readonly text: string;
}

const DIRECTIVE = /^\s*@(say|tool|result|recall|hang|error|usage)\b ?(.*)$/;

export function chooseReply(history: History): Reply {
  const text = history.fresh.findLast((candidate) => parseScript(candidate).length > 0) ?? "";
  const steps = parseScript(text);
  const step = steps[history.rounds];
  if (step === undefined) return { ...emptyStep(), text: steps.length === 0 ? "nothing to do" : "done" };
  const parts = [...step.say];
  if (step.result) parts.push(`tool said: ${history.lastResult}`);
  if (step.recall) parts.push(`recalled: ${history.userTexts.slice(0, -1).join(" | ")}`);
  return { ...step, text: parts.join("\n") };
}

function parseScript(text: string): Step[] {
  const steps: Step[] = [];
  let step: Step | undefined;
  for (const line of text.split(/\r?\n/)) {
    const [, verb, rest = ""] = DIRECTIVE.exec(line) ?? [];
    if (verb === undefined) continue;
    // A tool call closes an answer; several in a row are made at once.
    if (step !== undefined && step.tools.length > 0 && verb !== "tool") step = undefined;
    if (step === undefined) {
      step = emptyStep();
      steps.push(step);
    }
    direct(step, verb, rest);
  }
  return steps;
}

function direct(step: Step, verb: string, rest: string): void {
  const numbers = rest.split(/\s+/).map(Number);
  switch (verb) {
    case "say":
      step.say.push(rest);
      return;
    case "tool": {
      const [, name = "", json = ""] = /^(\S+)\s*(.*)$/.exec(rest) ?? [];
      step.tools.push({ name, input: json === "" ? {} : JSON.parse(json) });
      return;
    }
    case "error":
      step.error = { status: numbers[0] || 500, times: numbers[1] || Number.POSITIVE_INFINITY };
      return;
    case "usage":
      step.usage = { input: numbers[0] || 0, output: numbers[1] || 0, cached: numbers[2] || 0 };
      return;
    case "result":
    case "recall":
    case "hang":
      step[verb] = true;
  }
}

function emptyStep(): Step {
  return {
    say: [],
    tools: [],
    result: false,
    recall: false,
    hang: false,
    error: undefined,
    usage: undefined,
  };
}

/** Adds what people, or the service, said to the model. */
export function hear(history: History, text: string, isAnswer: boolean): void {
  history.userTexts.push(text);
  history.fresh = isAnswer ? [text] : [...history.fresh, text];
  history.rounds = 0;
}

export function emptyHistory(): History {
  return { userTexts: [], fresh: [], rounds: 0, lastResult: "" };
}

/** A tool as an agent program offers it. */
export interface OfferedTool {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly kind?: string | undefined;
}

/** Programs show one MCP tool under different names; a script names it by its end. */
export function resolveTool(name: string, offered: readonly OfferedTool[]): OfferedTool | undefined {
  const exact = offered.find((tool) => tool.name === name && tool.namespace === undefined);
  if (exact !== undefined) return exact;
  return offered.find((tool) => `${tool.namespace ?? ""}__${tool.name}`.endsWith(`__${name}`));
}

/** How often a step has failed already, told apart by the conversation. */
export function createFailures(): (reply: Reply, history: History) => boolean {
  const counts = new Map<string, number>();
  return ({ error }, history) => {
    if (error === undefined) return false;
    const key = `${history.userTexts.length}:${history.rounds}:${history.userTexts.at(-1)}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= error.times;
  };
}

export function countTokens(value: unknown): number {
  return Math.ceil(JSON.stringify(value ?? "").length / 4);
}

/** Streams are pieces. */
export function pieces(text: string): string[] {
  const size = Math.max(1, Math.ceil(text.length / 3));
  return text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
}
