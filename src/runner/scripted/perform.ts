import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { TOOL } from "../agent-tools.js";
import type { Directive } from "./directives.js";
import type { ScriptState } from "./memory.js";
import type { Turn } from "./turn.js";

/** Longest that a timer can be set to. */
const TIMER_MS = 2 ** 31 - 1;
/** Tool calls are kept short: some clients and proxies cut long ones. */
const AWAIT_SECONDS = 20;
const BETWEEN_AWAITS_MS = 200;
const MOVING = ["PENDING", "RUNNING", "SLEEPING", "STOPPING"];
const CONTEXT_TOKENS = 200_000;
const CRASH_CODE = 70;

/** Does what one directive says. Throws the signal's reason when it is cut short, and what `@fail` says. */
export async function perform(directive: Directive, turn: Turn, script: ScriptState): Promise<void> {
  switch (directive.type) {
    case "say":
      return turn.say(directive.text);
    case "sleep":
      return sleep(directive.milliseconds, turn.signal);
    case "ask":
      await turn.use(TOOL.ask, { question: directive.question });
      return;
    case "complete":
      await turn.use(TOOL.complete, { result: directive.result });
      return;
    case "output":
      await turn.use(TOOL.output, { output: directive.output });
      return;
    case "fail":
      throw new RequestError(-32603, directive.message || "@fail", {
        errorKind: "script_failed",
        fatal: true,
      });
    case "crash":
      process.exit(CRASH_CODE);
      return;
    case "hang":
      // Deaf to the signal; the end of input still ends the process.
      return new Promise(() => {});
    case "task":
      await turn.use(TOOL.taskUpdate, { id: directive.id, status: directive.status });
      return;
    case "addtask":
      await turn.use(TOOL.taskAdd, { id: directive.id, subject: directive.subject });
      return;
    case "spawn":
      await turn.use(TOOL.spawnChild, { name: directive.name, description: directive.description });
      return;
    case "await":
      return awaitChild(directive.name, turn);
    case "message":
      // Begun again after a crash it is the same message.
      await turn.use(TOOL.messageChild, {
        name: directive.name,
        text: directive.text,
        messageId: `${turn.memory.sessionId}-${script.run}-${script.position}`,
      });
      return;
    case "children":
      await turn.say((await turn.use(TOOL.listChildren, {}))?.text ?? "");
      return;
    case "run":
      return turn.run(directive.command);
    case "usage":
      return use(directive, turn, script);
    case "ignore":
      script.ignores = true;
      return;
    case "unclear":
      return turn.say(directive.why);
  }
}

async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    let left = milliseconds;
    let timer: NodeJS.Timeout;
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const next = () => {
      if (left <= 0) {
        signal.removeEventListener("abort", onAbort);
        resolve();
        return;
      }
      const pause = Math.min(left, TIMER_MS);
      left -= pause;
      timer = setTimeout(next, pause);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    next();
  });
}

/** Until the child has ended or wants something: it may ask for what only this agent can tell it. */
async function awaitChild(name: string, turn: Turn): Promise<void> {
  for (;;) {
    const answer = await turn.use(TOOL.awaitChild, { name, timeoutSeconds: AWAIT_SECONDS });
    if (answer === undefined) return;
    const phase = String(answer.value.phase ?? "").replace("PHASE_", "");
    if (MOVING.includes(phase)) {
      await sleep(BETWEEN_AWAITS_MS, turn.signal);
      continue;
    }
    const result = String(answer.value.result ?? "");
    return turn.say(`${name} is ${phase}${result === "" ? "" : `: ${result}`}`);
  }
}

async function use(
  { input, output, cached, cost }: Extract<Directive, { type: "usage" }>,
  { memory, update }: Turn,
  { usage }: ScriptState,
): Promise<void> {
  usage.input += input;
  usage.output += output;
  usage.cached += cached;
  memory.tokens += input + output + cached;
  memory.cost += cost;
  await update(usageUpdate(memory));
}

export function usageUpdate({ cost, tokens }: { readonly cost: number; readonly tokens: number }) {
  return {
    sessionUpdate: "usage_update",
    used: Math.min(tokens, CONTEXT_TOKENS),
    size: CONTEXT_TOKENS,
    cost: { amount: cost, currency: "USD" },
  } as const;
}
