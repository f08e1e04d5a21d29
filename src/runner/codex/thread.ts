import { type JsonRecord, record, text } from "../acp/json.js";
import { MCP_SERVER } from "../agent-tools.js";
import type { SessionSpec } from "../runner.js";
import { passing, RunnerError } from "../runner-error.js";
import { type Peer, PeerError } from "./peer.js";

export interface OpenedThread {
  readonly threadId: string;
  readonly resumed: boolean;
}

/** Longer than the longest wait of our own tools. */
const TOOL_TIMEOUT_S = 120;

/** Resumes the thread, or starts a new one where codex does not know it any more. */
export async function openThread(peer: Peer, spec: SessionSpec, isolated: boolean): Promise<OpenedThread> {
  const params = threadParams(spec, isolated);
  if (spec.sessionRef !== undefined) {
    const resume = { threadId: spec.sessionRef, excludeTurns: true, ...params };
    const answer = await unlessRefused(peer.request("thread/resume", resume));
    if (answer !== undefined) return { threadId: spec.sessionRef, resumed: true };
  }
  const answer = await peer.request("thread/start", params);
  const threadId = text(record(answer.thread).id);
  if (threadId !== "") return { threadId, resumed: false };
  throw new RunnerError(passing("agent_protocol", "codex opened a thread without an id"));
}

function threadParams({ cwd, settings, mcp }: SessionSpec, isolated: boolean): JsonRecord {
  return {
    cwd,
    ...(settings.model === "" ? {} : { model: settings.model }),
    // It asks before whatever it does not trust, and the policy answers: the same as with other programs.
    approvalPolicy: "untrusted",
    // Within our view its own sandbox can neither be made nor add anything.
    sandbox: isolated ? "danger-full-access" : "workspace-write",
    config: {
      mcp_servers: {
        [MCP_SERVER]: {
          url: mcp.url,
          http_headers: { authorization: `Bearer ${mcp.key}` },
          default_tools_approval_mode: "approve",
          tool_timeout_sec: TOOL_TIMEOUT_S,
        },
      },
    },
  };
}

/** Undefined when codex does not know the thread any more, or will not have it. */
async function unlessRefused(request: Promise<JsonRecord>): Promise<JsonRecord | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof PeerError) return undefined;
    throw error;
  }
}
