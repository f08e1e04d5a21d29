import {
  type ClientContext,
  client,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk/unstable";
import { passing, plainError, RunnerError, type TurnError } from "../runner-error.js";
import type { AgentProcess } from "./agent-process.js";
import { record, text } from "./json.js";
import { createMessageStream } from "./message-stream.js";
import { exitError, rpcError } from "./turn-answer.js";
import { within } from "./within.js";

/** The protocol over a process's pipes. */
export interface Connection {
  readonly agent: ClientContext;
  /** What a failed request means, once it is known whether the process is gone. */
  explain(error: unknown): Promise<TurnError>;
}

interface Handlers {
  /** `session/update`, and what a program tells beside the protocol. */
  onNotice(method: string, params: unknown): void;
  onPermission(request: RequestPermissionRequest): RequestPermissionResponse;
}

/** A process that closed its output is either about to end or of no more use. */
const END_MS = 2000;

export function connect(agentProcess: AgentProcess, handlers: Handlers): Connection {
  const stream = createMessageStream(agentProcess, agentProcess.guard, handlers.onNotice);
  const connection = client({ name: "retinue" })
    .onRequest(methods.client.session.requestPermission, ({ params }) => handlers.onPermission(params))
    .connect(stream);
  void agentProcess.exited.then((exit) => connection.close(new RunnerError(exitError(exit))));
  return {
    agent: connection.agent,
    async explain(error) {
      if (error instanceof RequestError) return rpcError(error);
      if (error instanceof RunnerError) return plainError(error);
      // The connection broke: nothing more can be said to this process.
      if (!(await within(agentProcess.exited, END_MS)))
        await agentProcess.kill("output_closed").catch(() => {});
      const exit = agentProcess.exit();
      return exit === undefined ? passing("agent_exited", String(error)) : exitError(exit);
    },
  };
}

/** What a program says of itself. */
export interface AgentInfo {
  readonly build: string;
  readonly canResume: boolean;
  readonly canLoad: boolean;
}

export async function initialize(agent: ClientContext): Promise<AgentInfo> {
  const answer: unknown = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: "retinue", version: "1" },
    clientCapabilities: {
      // No files and no terminal: the program uses its own, within its view.
      // codex-acp tells a failed model call from a finished turn only to clients that ask for it by this name.
      _meta: { jetbrains: { air: { version: 1, capabilities: ["sessionFailure"] } } },
    },
  });
  const { protocolVersion, agentCapabilities, agentInfo } = record(answer);
  if (protocolVersion !== PROTOCOL_VERSION) {
    const message = `the agent program speaks version ${JSON.stringify(protocolVersion)} of ACP, not ${PROTOCOL_VERSION}`;
    throw new RunnerError({ kind: "agent_protocol", message, retryable: false, fatal: true });
  }
  const { loadSession, sessionCapabilities } = record(agentCapabilities);
  const resume = record(sessionCapabilities).resume;
  const info = record(agentInfo);
  return {
    build: `${text(info.name)} ${text(info.version)}`.trim(),
    canResume: resume !== undefined && resume !== null,
    canLoad: loadSession === true,
  };
}
