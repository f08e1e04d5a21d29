import { setTimeout as sleep } from "node:timers/promises";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { AgentId } from "../../gen/retinue/v1/agent_id_pb.js";
import { type WaitAgentResponse, WaitAgentResponseSchema } from "../../gen/retinue/v1/agent_service_pb.js";
import { pathOf } from "./agent-address.js";
import type { Cli } from "./cli.js";
import { isTransient } from "./explain.js";
import { goesOn, leavable } from "./interrupt.js";
import { outcomeCode, outcomeLines, reasonLines } from "./outcome.js";
import type { Server } from "./server.js";
import { wantsAttention } from "./words.js";

export interface Awaited {
  readonly agentId: AgentId;
  readonly timeoutMs?: number | undefined;
  readonly followUpId?: string | undefined;
  readonly afterRun?: number | undefined;
}

const PAUSE_MS = 1000;

/** Waits, tells what came of it and exits accordingly; Ctrl-C leaves the agent alone. */
export async function awaitAgent(cli: Cli, awaited: Awaited): Promise<void> {
  const server = cli.server();
  const path = pathOf(awaited.agentId);
  const answer = await leavable(
    (signal) => {
      if (cli.terminal.interactive) cli.terminal.note(`waiting for ${path} (Ctrl-C leaves it running)`);
      return waitPatiently(server, awaited, signal, () => cli.terminal.note("connection lost; waiting on …"));
    },
    () => goesOn(path),
  );
  const { status, reason } = answer;
  if (status === undefined) throw new Error("the server answered a wait without a status");
  cli.show(WaitAgentResponseSchema, answer, () => [
    ...reasonLines(reason, status),
    ...(wantsAttention(status.phase) ? outcomeLines(status, cli.terminal.paint) : []),
  ]);
  cli.exit(outcomeCode(status, reason));
}

/** A wait may take days; a connection may not last so long. Once the server has been reached, it is asked again. */
async function waitPatiently(
  server: Server,
  { agentId, timeoutMs, followUpId = "", afterRun = 0 }: Awaited,
  signal: AbortSignal,
  onLost: () => void,
): Promise<WaitAgentResponse> {
  const startedAt = performance.now();
  await server.agents.getAgentStatus({ agentId }, { signal });
  for (;;) {
    try {
      const left = timeoutMs === undefined ? undefined : timeoutMs - (performance.now() - startedAt);
      return await server.agents.waitAgent(
        {
          agentId,
          followUpId,
          afterRun: BigInt(afterRun),
          ...(left === undefined ? {} : { timeout: durationFromMs(Math.max(0, Math.round(left))) }),
        },
        { signal },
      );
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error;
      onLost();
      await sleep(PAUSE_MS, undefined, { signal });
    }
  }
}
