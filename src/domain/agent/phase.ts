import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import { EventType } from "../../../gen/retinue/v1/event_pb.js";
import { notFound } from "../fault.js";
import { type Agent, type NeedsInput, owesMessageZero } from "./agent.js";
import { subtreeSpentOf } from "./budget.js";
import { change, type Draft, record } from "./decision.js";

const { PENDING, RUNNING, SLEEPING, WAITING_FOR_INPUT, STOPPING, COMPLETED, FAILED, CANCELED } = Phase;

/** Where each phase can lead. What is not here is a bug of ours, never a caller's fault. */
export const TRANSITIONS: Readonly<Record<Phase, readonly Phase[]>> = {
  [Phase.UNSPECIFIED]: [PENDING],
  // Back to rest when its messages are taken away, or when the budget is spent.
  [PENDING]: [RUNNING, SLEEPING, WAITING_FOR_INPUT, COMPLETED, STOPPING],
  [RUNNING]: [PENDING, SLEEPING, WAITING_FOR_INPUT, COMPLETED, FAILED, STOPPING],
  [SLEEPING]: [PENDING, WAITING_FOR_INPUT, COMPLETED, STOPPING],
  // To itself when only the reason changes; to COMPLETED when the child that it waited for ends.
  [WAITING_FOR_INPUT]: [PENDING, SLEEPING, WAITING_FOR_INPUT, COMPLETED, STOPPING],
  [STOPPING]: [CANCELED],
  [COMPLETED]: [],
  [FAILED]: [],
  [CANCELED]: [],
};

export function isTerminal(phase: Phase): boolean {
  return phase === COMPLETED || phase === FAILED || phase === CANCELED;
}

/** Takes messages and task writes: neither terminal nor being ended. */
export function isAlive(phase: Phase): boolean {
  return phase !== STOPPING && !isTerminal(phase);
}

/** PHASE_RUNNING, as metadata of faults spell it. */
export function phaseName(phase: Phase): string {
  return `PHASE_${Phase[phase]}`;
}

/** The agent that an operation names; a missing one is told apart from one that has ended. */
export function requireFound<T>(agent: T | undefined, path: readonly string[]): T {
  if (agent !== undefined) return agent;
  throw notFound("AGENT_NOT_FOUND", `no agent ${path.join("/")}`, { agent: path.join("/") });
}

/** "Agent is not running" in the document's words: a resting agent is alive. */
export function requireAlive(agent: Agent): void {
  if (isAlive(agent.phase)) return;
  const [reason, what] =
    agent.phase === STOPPING ? ["AGENT_STOPPING", "is being stopped"] : ["AGENT_TERMINAL", "has ended"];
  const path = agent.key.path.join("/");
  throw notFound(reason, `agent ${path} ${what}`, { agent: path, phase: phaseName(agent.phase) });
}

/** Moves an agent, tells the timeline and the parent. Nothing happens where it already stands. */
export function moveTo(draft: Draft, phase: Phase, nowMs: number, needsInput?: NeedsInput): void {
  const before = draft.agent;
  const same = before.phase === phase;
  if (
    same &&
    before.needsInput?.text === needsInput?.text &&
    before.needsInput?.cause === needsInput?.cause
  ) {
    return;
  }
  if (!TRANSITIONS[before.phase].includes(phase)) {
    throw new Error(`no transition from ${phaseName(before.phase)} to ${phaseName(phase)}`);
  }
  const reason = needsInput?.text ?? endReason(before, phase);
  change(draft, { phase, needsInput, phaseSinceMs: same ? before.phaseSinceMs : nowMs });
  if (isTerminal(phase)) change(draft, { endedAtMs: nowMs });
  record(draft, EventType.PHASE_CHANGED, { case: "phase", value: { from: before.phase, to: phase, reason } });
  tellParent(draft, before);
}

function endReason(agent: Agent, phase: Phase): string {
  if (phase === FAILED) return agent.lastError?.message ?? "";
  return phase === STOPPING || phase === CANCELED ? (agent.kill?.reason ?? "") : "";
}

function tellParent(draft: Draft, before: Agent): void {
  const { agent } = draft;
  if (agent.parentUid === "") return;
  const child = { uid: agent.uid, path: agent.key.path };
  if (isTerminal(agent.phase)) {
    const { phase } = agent;
    draft.toParent.push({
      type: "ended",
      child,
      phase,
      result: resultOf(agent),
      spent: subtreeSpentOf(agent),
    });
  } else if (agent.needsInput !== undefined) {
    const asked = agent.needsInput.cause === "question";
    draft.toParent.push({ type: "waits", child, asked, text: agent.needsInput.text });
  } else if (before.phase === WAITING_FOR_INPUT) {
    draft.toParent.push({ type: "moves", child });
  }
}

/** What an ended agent has to show: its declared result, its error, or the last thing it said. */
export function resultOf(agent: Agent): string {
  if (agent.phase === FAILED) return agent.lastError?.message ?? "";
  if (agent.phase === CANCELED || owesMessageZero(agent)) return "";
  return agent.lastWord?.type === "complete" ? agent.lastWord.result : (agent.lastTurn?.summary ?? "");
}
