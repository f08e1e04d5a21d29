import type { AgentProcess } from "../acp/agent-process.js";
import { text } from "../acp/json.js";
import { allowOwnTools } from "../acp/permission.js";
import { exitError } from "../acp/turn-answer.js";
import type { Session, SessionSpec } from "../runner.js";
import { passing, plainError, RunnerError, type TurnError } from "../runner-error.js";
import { createPeer, PeerError } from "./peer.js";
import { strictSchema } from "./strict-schema.js";
import { openThread } from "./thread.js";
import { createThreadReader } from "./thread-reader.js";
import { createTokenMeter } from "./token-meter.js";
import { createTurns, type Turns } from "./turns.js";

/**
 * Opens a thread in a `codex app-server` just started: the same as an ACP session to whoever holds it. Driven
 * directly, because what stands between codex and ACP passes neither the flex tier nor an output schema.
 */
export async function startCodexSession(
  agentProcess: AgentProcess,
  spec: SessionSpec,
  isolated: boolean,
): Promise<Session> {
  let turns: Turns | undefined;
  const peer = createPeer(agentProcess, {
    onNotification: (method, params) => turns?.onNotification(method, params),
    onRequest: (method, params) => turns?.onRequest(method, params),
  });
  try {
    const clientInfo = { name: "retinue", title: "Retinue", version: "1" };
    // Experimental: the end of a turn's terminals, and instructions that change.
    const capabilities = { experimentalApi: true, requestAttestation: false };
    const { userAgent } = await peer.request("initialize", { clientInfo, capabilities });
    peer.notify("initialized");
    const { threadId, resumed } = await openThread(peer, spec, isolated);
    const held = createTurns({
      peer,
      threadId,
      reader: createThreadReader(createTokenMeter()),
      policy: spec.permit ?? allowOwnTools,
      settings: spec.settings,
      instructions: spec.instructions,
      outputSchema: strictSchema(spec.outputSchema),
      explain: async (error) => explained(error),
      onPrompt: () => agentProcess.guard.reset(),
    });
    turns = held;
    void agentProcess.exited.then((exit) => held.lost(exitError(exit)));
    return {
      sessionRef: threadId,
      resumed,
      build: `codex ${versionIn(text(userAgent))}`.trim(),
      process: agentProcess.ref,
      async apply(settings) {
        held.apply(settings);
        return [];
      },
      prompt: held.prompt,
      cancel: held.cancel,
      close: agentProcess.close,
      kill: () => agentProcess.kill(),
      exited: agentProcess.exited,
    };
  } catch (error) {
    throw new RunnerError(explained(error));
  }
}

function explained(error: unknown): TurnError {
  if (error instanceof RunnerError) return plainError(error);
  if (error instanceof PeerError) return passing("agent_error", error.message);
  throw error;
}

/** `<client>/<version of codex> (…)`. */
function versionIn(userAgent: string): string {
  return /^[^/]*\/(\S+)/.exec(userAgent)?.[1] ?? "";
}
