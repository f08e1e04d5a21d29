import { Phase, TurnOutcome, TurnState } from "../../gen/retinue/v1/agent_pb.js";
import { FollowUpState } from "../../gen/retinue/v1/follow_up_pb.js";
import { SettingSource } from "../../gen/retinue/v1/settings_pb.js";
import { TaskStatus } from "../../gen/retinue/v1/task_pb.js";
import type { Colour } from "./paint.js";

/** How a state is called and marked. */
export interface Word {
  readonly word: string;
  readonly mark: string;
  readonly colour: Colour;
}

export const PHASES: Readonly<Record<Phase, Word>> = {
  [Phase.UNSPECIFIED]: { word: "unknown", mark: "?", colour: "dim" },
  [Phase.PENDING]: { word: "pending", mark: "○", colour: "dim" },
  [Phase.RUNNING]: { word: "running", mark: "●", colour: "cyan" },
  [Phase.SLEEPING]: { word: "sleeping", mark: "☾", colour: "blue" },
  [Phase.WAITING_FOR_INPUT]: { word: "waiting for input", mark: "?", colour: "yellow" },
  [Phase.STOPPING]: { word: "stopping", mark: "◌", colour: "magenta" },
  [Phase.COMPLETED]: { word: "completed", mark: "✓", colour: "green" },
  [Phase.FAILED]: { word: "failed", mark: "✗", colour: "red" },
  [Phase.CANCELED]: { word: "canceled", mark: "⊘", colour: "dim" },
};

export const TASKS: Readonly<Record<TaskStatus, Word>> = {
  [TaskStatus.UNSPECIFIED]: { word: "pending", mark: "☐", colour: "dim" },
  [TaskStatus.PENDING]: { word: "pending", mark: "☐", colour: "dim" },
  [TaskStatus.IN_PROGRESS]: { word: "in progress", mark: "◐", colour: "cyan" },
  [TaskStatus.COMPLETED]: { word: "completed", mark: "☑", colour: "green" },
  [TaskStatus.DELETED]: { word: "deleted", mark: "☒", colour: "dim" },
};

export const TURN_STATES: Readonly<Record<TurnState, string>> = {
  [TurnState.UNSPECIFIED]: "",
  [TurnState.STARTING]: "starting",
  [TurnState.RUNNING]: "running",
  [TurnState.INTERRUPTING]: "being interrupted",
  [TurnState.RECOVERING]: "recovering",
};

export const OUTCOMES: Readonly<Record<TurnOutcome, string>> = {
  [TurnOutcome.UNSPECIFIED]: "ended",
  [TurnOutcome.COMPLETED]: "completed",
  [TurnOutcome.INTERRUPTED]: "interrupted",
  [TurnOutcome.KILLED]: "killed",
  [TurnOutcome.TIMED_OUT]: "timed out",
  [TurnOutcome.FAILED]: "failed",
  [TurnOutcome.OVER_BUDGET]: "over budget",
};

export const FOLLOW_UPS: Readonly<Record<FollowUpState, string>> = {
  [FollowUpState.UNSPECIFIED]: "unknown",
  [FollowUpState.DEFERRED]: "deferred",
  [FollowUpState.QUEUED]: "queued",
  [FollowUpState.DELIVERED]: "delivered",
  [FollowUpState.CLEARED]: "cleared",
  [FollowUpState.REMOVED]: "removed",
};

export const SOURCES: Readonly<Record<SettingSource, string>> = {
  [SettingSource.UNSPECIFIED]: "",
  [SettingSource.DEFAULT]: "default",
  [SettingSource.WORKSPACE]: "workspace",
  [SettingSource.PERSONA]: "persona",
  [SettingSource.SPAWN]: "spawn",
  [SettingSource.FOLLOW_UP]: "follow-up",
  [SettingSource.PARENT]: "parent",
};

const ENDED: readonly Phase[] = [Phase.COMPLETED, Phase.FAILED, Phase.CANCELED];

export function hasEnded(phase: Phase): boolean {
  return ENDED.includes(phase);
}

/** Whether the agent does nothing more until its caller does something. */
export function wantsAttention(phase: Phase): boolean {
  return hasEnded(phase) || phase === Phase.WAITING_FOR_INPUT;
}

/** US dollars as people write them; an amount too small for cents still shows. */
export function money(dollars: number): string {
  return dollars > 0 && dollars < 0.1 ? `$${dollars.toFixed(4)}` : `$${dollars.toFixed(2)}`;
}

export function tokens(count: bigint): string {
  const n = Number(count);
  if (n < 10_000) return String(n);
  return n < 1_000_000 ? `${Math.round(n / 1000)}k` : `${(n / 1_000_000).toFixed(1)}M`;
}
