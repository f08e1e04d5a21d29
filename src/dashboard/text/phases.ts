import { Phase } from "../../../gen/retinue/v1/agent_pb.js";

/** Phases in words for people; the class colours them. */
export const PHASES: Readonly<Record<Phase, { readonly label: string; readonly tone: string }>> = {
  [Phase.UNSPECIFIED]: { label: "Unknown", tone: "quiet" },
  [Phase.PENDING]: { label: "Pending", tone: "pending" },
  [Phase.RUNNING]: { label: "Running", tone: "running" },
  [Phase.SLEEPING]: { label: "Sleeping", tone: "sleeping" },
  [Phase.WAITING_FOR_INPUT]: { label: "Needs input", tone: "asking" },
  [Phase.STOPPING]: { label: "Stopping", tone: "stopping" },
  [Phase.COMPLETED]: { label: "Completed", tone: "done" },
  [Phase.FAILED]: { label: "Failed", tone: "failed" },
  [Phase.CANCELED]: { label: "Canceled", tone: "quiet" },
};

export const LIVE_PHASES = [
  Phase.WAITING_FOR_INPUT,
  Phase.RUNNING,
  Phase.PENDING,
  Phase.SLEEPING,
  Phase.STOPPING,
] as const;

export const ENDED_PHASES = [Phase.COMPLETED, Phase.FAILED, Phase.CANCELED] as const;

export function isTerminal(phase: Phase | undefined): boolean {
  return phase === Phase.COMPLETED || phase === Phase.FAILED || phase === Phase.CANCELED;
}

/** Takes messages. */
export function isAlive(phase: Phase | undefined): boolean {
  return phase !== undefined && phase !== Phase.STOPPING && !isTerminal(phase);
}
