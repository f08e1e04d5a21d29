import type { AgentContext, SessionUpdate } from "@agentclientprotocol/sdk/unstable";
import { methods } from "@agentclientprotocol/sdk/unstable";
import type { ToolName } from "../agent-tools.js";
import type { Memory, MemoryStore } from "./memory.js";
import { runShell } from "./shell.js";
import { Refusal, type ToolAnswer, type Tools } from "./tools.js";

/** What a directive works with: a turn's voice, its tools and its memory. */
export interface Turn {
  readonly memory: Memory;
  readonly signal: AbortSignal;
  say(text: string): Promise<void>;
  /** Undefined when the platform refused, which has been said. */
  use(name: ToolName, args: Record<string, unknown>): Promise<ToolAnswer | undefined>;
  run(command: string): Promise<void>;
  update(update: SessionUpdate): Promise<void>;
  save(): Promise<void>;
}

export interface TurnParts {
  readonly client: AgentContext;
  readonly memory: Memory;
  readonly store: MemoryStore;
  readonly tools: Tools;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

let calls = 0;

export function createTurn({ client, memory, store, tools, cwd, signal }: TurnParts): Turn {
  const { sessionId } = memory;
  const update = (change: SessionUpdate) =>
    client.notify(methods.client.session.update, { sessionId, update: change });
  const say = (text: string) =>
    update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${text}\n` } });

  /** Shows a piece of work as a tool call, to its end or to the abort. */
  const shown = async <T>(
    call: {
      readonly title: string;
      readonly kind: "other" | "execute";
      readonly rawInput: Record<string, unknown>;
    },
    work: () => Promise<{ readonly text: string; readonly failed: boolean; readonly value: T }>,
  ): Promise<T> => {
    calls += 1;
    const toolCallId = `${memory.prompts}-${calls}`;
    await update({ sessionUpdate: "tool_call", toolCallId, status: "in_progress", ...call });
    const { text, failed, value } = await work();
    await update({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: failed ? "failed" : "completed",
      content: [{ type: "content", content: { type: "text", text } }],
    });
    return value;
  };

  return {
    memory,
    signal,
    say,
    update,
    save: () => store.save(memory),
    async use(name, args) {
      const answer = await shown<ToolAnswer | Refusal>(
        { title: name, kind: "other", rawInput: args },
        async () => {
          try {
            const value = await tools.call(name, args, signal);
            return { text: value.text, failed: false, value };
          } catch (error) {
            if (!(error instanceof Refusal)) throw error;
            return { text: error.message, failed: true, value: error };
          }
        },
      );
      if (!(answer instanceof Refusal)) return answer;
      await say(`${name} was refused: ${answer.message}`);
      return undefined;
    },
    async run(command) {
      const output = await shown({ title: command, kind: "execute", rawInput: { command } }, async () => {
        const result = await runShell(command, cwd, signal);
        return { text: result.output, failed: result.failed, value: result.output };
      });
      if (output !== "") await say(output);
    },
  };
}
