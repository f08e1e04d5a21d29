import { dirname } from "node:path";
import type { Config } from "../../src/main/config.js";
import { DEFAULT_ENVIRONMENT } from "../../src/runner/acp/environment.js";
import { type AgentCaller, createAgentCaller } from "../support/agents.js";
import { cleanUp } from "../support/cleanup.js";
import { encode, rest, startServer, type TestServer } from "../support/server.js";
import { CLAUDE, CODEX } from "./installed.js";
import * as anthropic from "./model/anthropic.js";
import type { Json, Listener } from "./model/http.js";
import * as openai from "./model/openai.js";

/** One of the two real agent programs, told apart by what they are called and how their model is asked. */
export interface Backend {
  readonly name: "claude" | "codex";
  readonly model: string;
  readonly startModel: () => Promise<Listener>;
  /** The bodies of the turns that the model was asked for. */
  readonly turnsOf: (requests: Listener["requests"]) => Json[];
  /** How a script calls the program's shell. */
  readonly shell: (command: string) => string;
}

export const BACKENDS: readonly Backend[] = [
  {
    name: "claude",
    model: "claude-opus-4-8",
    startModel: anthropic.startAnthropic,
    turnsOf: anthropic.turnsOf,
    shell: (command) => `@tool Bash ${JSON.stringify({ command, description: "test" })}`,
  },
  {
    name: "codex",
    model: "gpt-5.5",
    startModel: openai.startOpenAI,
    turnsOf: openai.turnsOf,
    shell: (command) => `@tool exec_command ${JSON.stringify({ cmd: command })}`,
  },
];

export const SECRET = "sk-test-0123456789";

/** A server whose agent program is the real one, and the stand-in of the model behind it. */
export interface Bench {
  readonly server: TestServer;
  readonly agents: AgentCaller;
  readonly model: Listener;
  readonly backend: Backend;
  /** Spawns an agent on the backend's model in a workspace that allows everything. */
  spawn(path: string, description: string, more?: object): Promise<Json>;
  put(kind: string, name: string, document: object): Promise<void>;
  turns(): Json[];
  /** The same on a server that was stopped and started again. */
  reopen(): Promise<Bench>;
}

export async function openBench(backend: Backend): Promise<Bench> {
  const model = await backend.startModel();
  cleanUp(() => model.close());
  const server = await startServer({ agents: agentsConfig(model.url) });
  return benchOn(server, backend, model);
}

export async function benchOn(server: TestServer, backend: Backend, model: Listener): Promise<Bench> {
  const agents = createAgentCaller(server, server.adminKey);
  const put = async (kind: string, name: string, document: object) => {
    const body = { payload: encode(document) };
    const answer = await rest(server, server.adminKey, "POST", `/v1/catalog/${kind}/${name}`, body);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  };
  await put("workspace", "default", { permissions: { allow: ["*"] } });
  return {
    server,
    agents,
    model,
    backend,
    put,
    spawn: (path, description, more = {}) =>
      agents.spawn(path, description, { model: backend.model, ...more }),
    turns: () => backend.turnsOf(model.requests),
    reopen: async () => benchOn(await server.restart(), backend, model),
  };
}

/** Both programs, and a model that is reached at this address only. */
export function agentsConfig(modelUrl: string): Config["agents"] {
  return {
    commands: { claude: [CLAUDE], codex: [CODEX] },
    environment: {
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: SECRET,
      CLAUDE_CODE_MAX_RETRIES: "1",
      OPENAI_BASE_URL: `${modelUrl}/v1`,
      OPENAI_API_KEY: SECRET,
    },
    forAll: {},
    path: `${DEFAULT_ENVIRONMENT.PATH}:${dirname(process.execPath)}`,
  };
}
