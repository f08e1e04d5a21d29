import { Code } from "../../../gen/google/rpc/code_pb.js";
import { StopTurnMode } from "../../../gen/retinue/v1/agent_service_pb.js";
import { Fault } from "../fault.js";
import type { Agent } from "./agent.js";
import { type Context, type Decision, decided, openDraft } from "./decision.js";
import { cutTurn } from "./interrupt.js";
import { phaseName } from "./phase.js";
import { promoteDue } from "./queue.js";
import { settle } from "./settle.js";

export interface StopTurn {
  /** 0: omitted. */
  readonly runId: bigint;
  readonly mode: StopTurnMode;
}

/** Interrupts the current turn. The agent lives on and its queue goes on; children are untouched. */
export function stopTurn(agent: Agent, input: StopTurn, context: Context): Decision {
  if (input.runId === 0n) throw refused(agent, "RUN_ID_REQUIRED", "required: the run that is to be stopped");
  if (agent.turn === undefined) throw refused(agent, "NO_TURN_RUNNING", "no turn is running");
  if (input.runId !== BigInt(agent.turn.runId)) {
    throw refused(agent, "RUN_ID_STALE", `run ${input.runId} is not the current run ${agent.turn.runId}`);
  }
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  cutTurn(draft, input.mode === StopTurnMode.KILL ? "KILL" : "INTERRUPT", context);
  settle(draft, context);
  return decided(draft, undefined);
}

function refused(agent: Agent, reason: string, description: string): Fault {
  return new Fault(Code.INVALID_ARGUMENT, reason, `runId: ${description}`, {
    metadata: { currentRunId: String(agent.runCount), phase: phaseName(agent.phase) },
    violations: [{ field: "runId", description }],
  });
}
