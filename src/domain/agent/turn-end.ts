import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Phase, TurnOutcome } from "../../../gen/retinue/v1/agent_pb.js";
import { EventType } from "../../../gen/retinue/v1/event_pb.js";
import type { AgentError } from "./agent.js";
import { change, type Draft, record } from "./decision.js";
import { moveTo } from "./phase.js";
import { clearUndelivered } from "./queue.js";
import { removeTasks } from "./task-list.js";
import type { EndedTurn, Shortfall } from "./turn.js";
import { usageMessage } from "./usage.js";

export interface TurnEnd {
  readonly outcome: TurnOutcome;
  readonly summary?: string;
  readonly error?: AgentError | undefined;
  readonly shortfall?: Shortfall | undefined;
}

/** Ends the turn that is held; where the agent goes from here is for `settle` (or whoever ends the agent). */
export function endTurn(draft: Draft, end: TurnEnd, nowMs: number): void {
  const { turn } = draft.agent;
  if (turn === undefined) return;
  const ended: EndedTurn = {
    runId: turn.runId,
    outcome: end.outcome,
    summary: end.summary ?? "",
    error: end.error,
    usage: turn.usage,
    startedAtMs: turn.startedAtMs,
    endedAtMs: nowMs,
    shortfall: end.shortfall,
  };
  record(draft, EventType.TURN_ENDED, {
    case: "turnEnded",
    value: {
      runId: BigInt(turn.runId),
      outcome: ended.outcome,
      summary: ended.summary,
      usage: usageMessage(turn.usage),
      startedAt: timestampFromMs(turn.startedAtMs),
      endedAt: timestampFromMs(nowMs),
      ...(end.error === undefined ? {} : { error: end.error }),
    },
  });
  // Ephemeral tasks live for exactly one run, whatever its outcome.
  removeTasks(draft, (task) => task.ephemeral);
  change(draft, {
    turn: undefined,
    lastTurn: ended,
    ...(end.error === undefined ? {} : { lastError: end.error }),
    failures: 0,
    recoveries: 0,
  });
}

/** The agent cannot go on: its turn FAILED, its messages cleared, what lives below it to be stopped. */
export function failAgent(draft: Draft, error: AgentError, nowMs: number): void {
  endTurn(draft, { outcome: TurnOutcome.FAILED, error }, nowMs);
  clearUndelivered(draft, `the agent failed: ${error.message}`);
  draft.stopDescendants = draft.agent.children.length > 0;
  moveTo(draft, Phase.FAILED, nowMs);
}
