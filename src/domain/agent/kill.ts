import { Phase, TurnOutcome } from "../../../gen/retinue/v1/agent_pb.js";
import type { Agent } from "./agent.js";
import {
  type Context,
  change,
  type Decision,
  type Draft,
  decided,
  openDraft,
  unchanged,
} from "./decision.js";
import { isAlive, moveTo } from "./phase.js";
import { clearUndelivered, promoteDue } from "./queue.js";
import { endTurn } from "./turn-end.js";

/**
 * One agent's part of a kill, or of an ancestor's failure: STOPPING, its turn over and the keys of that turn
 * dead with it. Every live agent of the subtree gets this in one commit. Idempotent.
 */
export function killAgent(agent: Agent, reason: string, context: Context): Decision {
  if (!isAlive(agent.phase)) return unchanged(agent, undefined);
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  endTurn(draft, { outcome: TurnOutcome.KILLED }, context.nowMs);
  change(draft, { kill: { atMs: context.nowMs, reason, processesGone: false } });
  moveTo(draft, Phase.STOPPING, context.nowMs);
  return decided(draft, undefined);
}

/** The agent's processes are gone; also told of an agent that was CANCELED with survivors. */
export function processesEnded(agent: Agent, context: Context): Decision {
  if (agent.kill === undefined || agent.kill.processesGone) return unchanged(agent, undefined);
  const draft = openDraft(agent);
  change(draft, { kill: { ...agent.kill, processesGone: true } });
  promoteDue(draft, context.nowMs);
  tryCancel(draft, context);
  return decided(draft, undefined);
}

/** STOPPING → CANCELED, leaf first: once nothing lives below it and its processes are gone, or time is up. */
export function tryCancel(draft: Draft, { nowMs, limits }: Context): void {
  const { phase, kill, children } = draft.agent;
  if (phase !== Phase.STOPPING || kill === undefined || children.length > 0) return;
  const late = nowMs >= kill.atMs + limits.stoppingMs;
  if (!kill.processesGone && !late) return;
  if (!kill.processesGone) {
    const message = `processes were still alive ${limits.stoppingMs / 1000} s after the kill`;
    change(draft, { lastError: { kind: "survivors", message, retryable: false } });
  }
  clearUndelivered(draft, kill.reason);
  moveTo(draft, Phase.CANCELED, nowMs);
}
