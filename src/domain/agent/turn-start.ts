import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Phase, TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import { EventType } from "../../../gen/retinue/v1/event_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import { type Agent, owesMessageZero } from "./agent.js";
import { NO_USAGE } from "./budget.js";
import { change, type Draft, record } from "./decision.js";
import { deliveredTasks, nextDelivery } from "./delivery.js";
import type { FollowUp } from "./follow-up.js";
import { grants } from "./permission.js";
import { moveTo } from "./phase.js";
import { recordFollowUp } from "./queue.js";
import { applySettings, samePersona } from "./settings.js";
import { tellSpent } from "./spent.js";
import { addPersonaTasks, addTasks, deactivateTasks, removeTasks } from "./task-list.js";
import type { HeldTurn } from "./turn.js";

/** Run + 1 with its message(s), which are DELIVERED here and nowhere else. */
export function startTurn(draft: Draft, nowMs: number): HeldTurn {
  const { agent } = draft;
  const zero = owesMessageZero(agent);
  const batch = zero ? [] : nextDelivery(agent.queued);
  const fromCaller = zero || batch[0]?.origin === "caller";
  const turn = { ...newTurn(agent.runCount + 1, batch, nowMs), ...grantedBy(agent, batch[0]) };
  change(draft, {
    turn,
    runCount: turn.runId,
    startedAtMs: agent.startedAtMs ?? nowMs,
    progressAtMs: nowMs,
    ...(batch.length === 0 ? {} : { queued: agent.queued.slice(batch.length) }),
    ...(fromCaller ? { lastWord: undefined, structuredOutput: undefined } : {}),
  });
  moveTo(draft, Phase.RUNNING, nowMs);
  const { runId, attempt, state } = turn;
  const started = { runId: BigInt(runId), attempt, state, startedAt: timestampFromMs(nowMs) };
  const value = { ...started, followUpIds: [...turn.followUpIds] };
  record(draft, EventType.TURN_STARTED, { case: "turnStarted", value });
  for (const followUp of batch) {
    recordFollowUp(draft, EventType.FOLLOW_UP_DELIVERED, followUp, FollowUpState.DELIVERED, 0);
  }
  deactivateTasks(draft);
  applyBatch(draft, batch);
  // A turn counts against the budget above from its start.
  tellSpent(draft);
  return turn;
}

/** What the last run asked leave for, where the caller's answer gives it. */
function grantedBy({ lastWord }: Agent, message: FollowUp | undefined): Pick<HeldTurn, "granted"> {
  const asked = lastWord?.type === "ask" ? lastWord.permission : undefined;
  if (asked === undefined || message?.origin !== "caller" || !grants(message.description)) return {};
  return { granted: asked };
}

/** Settings and tasks of delivered messages. The old persona's tasks go first, so that its IDs are free. */
function applyBatch(draft: Draft, batch: readonly FollowUp[]): void {
  const before = draft.agent.settings;
  const after = batch.reduce((settings, followUp) => applySettings(settings, followUp.settings), before);
  const switched = !samePersona(before.persona, after.persona);
  if (after !== before) {
    change(draft, { settings: after });
    record(draft, EventType.SETTINGS_CHANGED, { case: "settings", value: after.values });
  }
  if (switched) removeTasks(draft, (task) => task.persona !== "" && task.persona === before.persona.name);
  addTasks(draft, deliveredTasks(batch));
  if (switched) addPersonaTasks(draft, after.persona);
}

function newTurn(runId: number, batch: readonly FollowUp[], nowMs: number): HeldTurn {
  return {
    runId,
    attempt: 1,
    state: TurnState.STARTING,
    startedAtMs: nowMs,
    followUpIds: batch.map((followUp) => followUp.followUpId),
    promptSent: false,
    nudge: undefined,
    progressAtMs: nowMs,
    interruption: undefined,
    retryAtMs: undefined,
    spoke: false,
    output: undefined,
    outputRefusal: undefined,
    reminders: 0,
    repairs: 0,
    usage: NO_USAGE,
    handedOver: [],
  };
}
