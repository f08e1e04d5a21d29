import { randomUUID } from "node:crypto";
import {
  type AgentApp,
  type AgentContext,
  agent,
  type McpServer,
  methods,
  PROTOCOL_VERSION,
  type PromptRequest,
  type PromptResponse,
  RequestError,
} from "@agentclientprotocol/sdk/unstable";
import { callerText, runOf } from "../prompt-blocks.js";
import { choose, configOptions } from "./config.js";
import { createMemoryStore, type Memory, newMemory } from "./memory.js";
import { usageUpdate } from "./perform.js";
import { PROCESS_ENDS, runScript } from "./script.js";
import { createTools, type Tools } from "./tools.js";
import { createTurn } from "./turn.js";

interface OpenSession {
  readonly memory: Memory;
  readonly tools: Tools;
  readonly cwd: string;
  turn: AbortController | undefined;
}

export interface ScriptedAgent {
  readonly app: AgentApp;
  /** Ends what runs; resolves when it has ended, but for a script that hangs. */
  stop(): Promise<void>;
}

/** An ACP agent that follows the directives in its prompts. It is a script and no model, and says so. */
export function createScriptedAgent(home: string): ScriptedAgent {
  const store = createMemoryStore(home);
  const sessions = new Map<string, OpenSession>();
  const running = new Set<Promise<unknown>>();

  const open = (memory: Memory, cwd: string, servers: readonly McpServer[]) => {
    sessions.set(memory.sessionId, { memory, cwd, tools: createTools(servers), turn: undefined });
    return { configOptions: configOptions(memory.settings) };
  };

  const prompt = async (params: PromptRequest, client: AgentContext): Promise<PromptResponse> => {
    const session = opened(sessions, params.sessionId);
    if (session.turn !== undefined)
      throw RequestError.invalidRequest(undefined, "a prompt is being answered");
    const controller = new AbortController();
    session.turn = controller;
    const { memory, tools, cwd } = session;
    const { signal } = controller;
    const turn = createTurn({ client, memory, store, tools, cwd, signal });
    let stopReason: "end_turn" | "cancelled" = "end_turn";
    try {
      await runScript(turn, { run: runOf(params._meta), caller: callerText(params.prompt) });
    } catch (error) {
      if (!signal.aborted) throw error;
      stopReason = "cancelled";
    } finally {
      session.turn = undefined;
    }
    return { stopReason, usage: await takeUsage(memory, () => store.save(memory)) };
  };

  const app = agent({ name: "retinue-script" })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "retinue-script", title: "Embedded script, no model", version: "1" },
      agentCapabilities: { mcpCapabilities: { http: true, sse: false }, sessionCapabilities: { resume: {} } },
      authMethods: [],
    }))
    .onRequest(methods.agent.session.new, async ({ params }) => {
      const memory = newMemory(randomUUID());
      await store.save(memory);
      return { sessionId: memory.sessionId, ...open(memory, params.cwd, params.mcpServers) };
    })
    .onRequest(methods.agent.session.resume, async ({ params, client }) => {
      const { sessionId } = params;
      const memory = await store.load(sessionId);
      if (memory === undefined) throw RequestError.sessionNotFound(sessionId);
      const answer = open(memory, params.cwd, params.mcpServers ?? []);
      // Where the count stands, before anything is added to it.
      await client.notify(methods.client.session.update, { sessionId, update: usageUpdate(memory) });
      return answer;
    })
    .onRequest(methods.agent.session.setConfigOption, async ({ params }) => {
      const { memory } = opened(sessions, params.sessionId);
      choose(memory.settings, params.configId, params.value);
      await store.save(memory);
      return { configOptions: configOptions(memory.settings) };
    })
    .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
      const work = prompt(params, client);
      running.add(work);
      return work.finally(() => running.delete(work));
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => {
      sessions.get(params.sessionId)?.turn?.abort();
    });

  return {
    app,
    async stop() {
      for (const session of sessions.values()) session.turn?.abort(PROCESS_ENDS);
      await Promise.allSettled(running);
    },
  };
}

function opened(sessions: ReadonlyMap<string, OpenSession>, sessionId: string): OpenSession {
  const session = sessions.get(sessionId);
  if (session === undefined) throw RequestError.sessionNotFound(sessionId);
  return session;
}

/** The tokens of the turn, told once. */
async function takeUsage(
  { script }: Memory,
  save: () => Promise<void>,
): Promise<NonNullable<PromptResponse["usage"]>> {
  const { input, output, cached } = script?.usage ?? { input: 0, output: 0, cached: 0 };
  if (script !== undefined && input + output + cached > 0) {
    script.usage = { input: 0, output: 0, cached: 0 };
    await save();
  }
  const totalTokens = input + output + cached;
  return { inputTokens: input, outputTokens: output, cachedReadTokens: cached, totalTokens };
}
