import { Phase, TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import { type Agent, owesMessageZero } from "./agent.js";
import type { FollowUp } from "./follow-up.js";
import { isTerminal, phaseName } from "./phase.js";
import { findCycle, symmetric } from "./task-graph.js";

/** What must hold of every agent after every commit; each broken rule is a sentence. For tests and checks. */
export function invariantViolations(agent: Agent): string[] {
  const broken: string[] = [];
  const must = (holds: boolean, rule: string) => {
    if (!holds) broken.push(`${phaseName(agent.phase)}: ${rule}`);
  };
  phaseRules(agent, must);
  turnRules(agent, must);
  queueRules(agent, must);
  taskRules(agent, must);
  return broken;
}

type Must = (holds: boolean, rule: string) => void;

function phaseRules(agent: Agent, must: Must): void {
  const { phase, needsInput, queued, deferred, children } = agent;
  const work = owesMessageZero(agent) || queued.length > 0;
  const moving = children.some(({ waitsFor }) => waitsFor === undefined);
  must((phase === Phase.RUNNING) === (agent.turn !== undefined), "a turn is held exactly in RUNNING");
  must(
    (phase === Phase.WAITING_FOR_INPUT) === (needsInput !== undefined),
    "needsInput is set exactly in WAITING",
  );
  must(needsInput?.text !== "", "needsInput says something");
  must(
    (phase === Phase.STOPPING || phase === Phase.CANCELED) === (agent.kill !== undefined),
    "only a kill stops",
  );
  must(isTerminal(phase) === (agent.endedAtMs !== undefined), "endedAt is set exactly in terminal phases");
  // Every live agent has a turn, a slot request, a timer, a child that moves, or a caller who was told.
  switch (phase) {
    case Phase.PENDING:
      must(work, "something is to be run");
      break;
    case Phase.SLEEPING:
      must(!work, "nothing is queued");
      must(deferred.length > 0 || moving, "a deferred message or a child that moves will wake it");
      break;
    case Phase.WAITING_FOR_INPUT:
      must(!work || needsInput?.cause === "budget", "nothing is queued, unless the budget is spent");
      break;
    case Phase.COMPLETED:
      must(!work && children.length === 0, "no message and no live child is left behind");
      break;
    default:
  }
  if (isTerminal(phase)) must(queued.length + deferred.length === 0, "no message is left undelivered");
}

function turnRules(agent: Agent, must: Must): void {
  const { turn } = agent;
  if (turn === undefined) return;
  must(turn.runId === agent.runCount, "the turn held is the current run");
  must(
    (turn.state === TurnState.INTERRUPTING) === (turn.interruption !== undefined),
    "an interruption has a cause",
  );
  must((turn.state === TurnState.RECOVERING) === (turn.retryAtMs !== undefined), "a recovery has a time");
  must(turn.state !== TurnState.STARTING || !turn.promptSent, "a turn whose prompt was sent is not STARTING");
  must(turn.nudge === undefined || turn.promptSent, "a nudge follows a prompt");
}

function queueRules(agent: Agent, must: Must): void {
  const { queued, deferred, counters } = agent;
  const ids = [...queued, ...deferred].map(({ followUpId }) => followUpId);
  must(new Set(ids).size === ids.length, "no message stands twice");
  must(
    queued.every(({ state }) => state === FollowUpState.QUEUED),
    "the queue holds QUEUED messages",
  );
  must(
    deferred.every(({ state }) => state === FollowUpState.DEFERRED),
    "the deferred are DEFERRED",
  );
  must(
    ascending(queued, (a, b) => a.place < b.place),
    "the queue is in the order of places",
  );
  must((queued.at(-1)?.place ?? 0) <= counters.places, "no place is given twice");
  const earlier = (a: FollowUp, b: FollowUp) => {
    const [x, y] = [a.deliverAtMs ?? 0, b.deliverAtMs ?? 0];
    return x < y || (x === y && a.arrival < b.arrival);
  };
  must(ascending(deferred, earlier), "the deferred are in the order of (deliverAt, arrival)");
}

function ascending<T>(list: readonly T[], less: (a: T, b: T) => boolean): boolean {
  return list.every((item, i) => i === 0 || less(list[i - 1] as T, item));
}

function taskRules(agent: Agent, must: Must): void {
  const { tasks } = agent;
  must(new Set(tasks.map(({ id }) => id)).size === tasks.length, "no task stands twice");
  must(
    symmetric(tasks).every((task, i) => task === tasks[i]),
    "blocks and blockedBy agree",
  );
  must(findCycle(tasks) === undefined, "no tasks block one another in a ring");
  must(
    agent.turn !== undefined || !tasks.some(({ ephemeral }) => ephemeral),
    "ephemeral tasks end with their run",
  );
}
