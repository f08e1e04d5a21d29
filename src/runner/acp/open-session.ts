import { type ClientContext, type McpServer, methods, RequestError } from "@agentclientprotocol/sdk/unstable";
import { MCP_SERVER } from "../agent-tools.js";
import type { SessionSpec } from "../runner.js";
import { passing, RunnerError } from "../runner-error.js";
import { type ConfigOption, readConfigOptions } from "./config-options.js";
import type { AgentInfo } from "./connection.js";
import { record, text } from "./json.js";

export interface OpenedSession {
  readonly sessionRef: string;
  readonly resumed: boolean;
  readonly options: readonly ConfigOption[];
}

/** Resumes, or loads, or opens a new session: whatever the program can do first. The MCP server is named each time. */
export async function openSession(
  agent: ClientContext,
  info: AgentInfo,
  spec: SessionSpec,
): Promise<OpenedSession> {
  const meta = spec.program.sessionMeta?.(spec);
  const params = {
    cwd: spec.cwd,
    mcpServers: [mcpServer(spec)],
    ...(meta === undefined ? {} : { _meta: { ...meta } }),
  };
  const sessionId = spec.sessionRef;
  if (sessionId !== undefined && info.canResume) {
    const answer = await unlessRefused(agent.request(methods.agent.session.resume, { sessionId, ...params }));
    if (answer !== undefined) return opened(sessionId, true, answer);
  }
  if (sessionId !== undefined && info.canLoad) {
    // The history comes back as updates; nobody listens to updates before the first turn.
    const answer = await unlessRefused(agent.request(methods.agent.session.load, { sessionId, ...params }));
    if (answer !== undefined) return opened(sessionId, true, answer);
  }
  const answer: unknown = await agent.request(methods.agent.session.new, params);
  const ref = text(record(answer).sessionId);
  if (ref === "")
    throw new RunnerError(passing("agent_protocol", "the agent program opened a session without an id"));
  return opened(ref, false, answer);
}

function opened(sessionRef: string, resumed: boolean, answer: unknown): OpenedSession {
  return { sessionRef, resumed, options: readConfigOptions(record(answer).configOptions) };
}

/** Undefined when the program does not know the session any more, or will not have it. */
async function unlessRefused(request: Promise<unknown>): Promise<unknown> {
  try {
    return (await request) ?? {};
  } catch (error) {
    if (error instanceof RequestError) return undefined;
    throw error;
  }
}

function mcpServer({ mcp }: SessionSpec): McpServer {
  const headers = [{ name: "authorization", value: `Bearer ${mcp.key}` }];
  return { type: "http", name: MCP_SERVER, url: mcp.url, headers };
}
