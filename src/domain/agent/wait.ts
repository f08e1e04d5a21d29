import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import { WaitReason } from "../../../gen/retinue/v1/agent_service_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import { notFound } from "../fault.js";
import { quoted } from "../name.js";
import type { Agent } from "./agent.js";
import type { FollowUpRecord } from "./follow-up.js";
import { isTerminal } from "./phase.js";

const ENDS: Partial<Record<Phase, WaitReason>> = {
  [Phase.COMPLETED]: WaitReason.COMPLETED,
  [Phase.FAILED]: WaitReason.FAILED,
  [Phase.CANCELED]: WaitReason.CANCELED,
  [Phase.WAITING_FOR_INPUT]: WaitReason.NEEDS_INPUT,
};

/**
 * Why a wait for the agent ends now; undefined: it goes on. A rest that a run up to `afterRun` reached is
 * ignored, 0 ignores none; an agent that has ended never is, because nothing would follow.
 */
export function waitEnd(agent: Agent, afterRun: number): WaitReason | undefined {
  if (!isTerminal(agent.phase) && afterRun > 0 && agent.runCount <= afterRun) return undefined;
  return ENDS[agent.phase];
}

/**
 * The same for a wait for one message's turn.
 *
 * @param followUp what is known of the message now; undefined: it was never known
 */
export function followUpWaitEnd(
  agent: Agent,
  followUpId: string,
  followUp: FollowUpRecord | undefined,
): WaitReason | undefined {
  if (followUp === undefined) {
    throw notFound("FOLLOW_UP_NOT_FOUND", `followUpId: no message ${quoted(followUpId)}`, { followUpId });
  }
  switch (followUp.state) {
    case FollowUpState.CLEARED:
    case FollowUpState.REMOVED:
      return WaitReason.FOLLOW_UP_CLEARED;
    case FollowUpState.DELIVERED: {
      const goesOn = agent.turn?.runId === followUp.runId || agent.phase === Phase.STOPPING;
      return goesOn ? undefined : WaitReason.FOLLOW_UP_DONE;
    }
    case FollowUpState.QUEUED:
      // A queued message that does not run waits for a budget, and that is for the caller to raise.
      return agent.phase === Phase.WAITING_FOR_INPUT ? WaitReason.NEEDS_INPUT : undefined;
    default:
      return undefined;
  }
}
