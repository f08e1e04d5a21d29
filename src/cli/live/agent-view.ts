import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AgentId } from "../../../gen/retinue/v1/agent_id_pb.js";
import { type AgentStatus, Phase } from "../../../gen/retinue/v1/agent_pb.js";
import type { Event } from "../../../gen/retinue/v1/event_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import { type Task, TaskStatus } from "../../../gen/retinue/v1/task_pb.js";
import type { WatchResponse } from "../../../gen/retinue/v1/timeline_service_pb.js";
import { oneLine } from "../text.js";

/** What a live view shows of one agent. */
export interface AgentView {
  readonly id: AgentId;
  readonly phase: Phase;
  readonly sinceMs: number;
  readonly run: bigint;
  readonly cost: number;
  /** The last line of what it is saying. */
  readonly speech: string;
  /** The tool that it used last, unless it has spoken since. */
  readonly tool: string;
  /** Its question, its result, or what went wrong. */
  readonly outcome: string;
  readonly tasks: readonly Task[];
  readonly queued: ReadonlySet<string>;
  readonly wakeAtMs: number | undefined;
}

export function viewOf(id: AgentId, nowMs: number): AgentView {
  return {
    id,
    phase: Phase.PENDING,
    sinceMs: nowMs,
    run: 0n,
    cost: 0,
    speech: "",
    tool: "",
    outcome: "",
    tasks: [],
    queued: new Set(),
    wakeAtMs: undefined,
  };
}

/** The view after one message of the stream. */
export function update(view: AgentView, { update }: WatchResponse): AgentView {
  switch (update.case) {
    case "snapshot":
      return fromStatus(view, update.value);
    case "event":
      return afterEvent(view, update.value);
    case "liveText":
      return { ...view, speech: lastLine(view.speech + update.value.text), tool: "" };
    default:
      return view;
  }
}

function fromStatus(view: AgentView, status: AgentStatus): AgentView {
  return {
    id: status.agentId ?? view.id,
    phase: status.phase,
    sinceMs: status.phaseSince ? timestampMs(status.phaseSince) : view.sinceMs,
    run: status.runCount,
    cost: status.cost,
    speech: "",
    tool: "",
    outcome: status.needsInput || status.result || status.lastError?.message || "",
    tasks: status.tasks,
    queued: new Set(
      status.followUps
        .filter(({ state }) => state === FollowUpState.QUEUED)
        .map(({ followUpId }) => followUpId),
    ),
    wakeAtMs: status.nextWakeAt && timestampMs(status.nextWakeAt),
  };
}

function afterEvent(view: AgentView, { payload, time, runId }: Event): AgentView {
  const kind = payload?.kind;
  switch (kind?.case) {
    case "phase":
      return {
        ...view,
        phase: kind.value.to,
        sinceMs: time ? timestampMs(time) : view.sinceMs,
        outcome: kind.value.to === Phase.RUNNING ? "" : kind.value.reason || view.outcome,
      };
    case "turnStarted":
      return { ...view, run: runId, speech: "", tool: "" };
    case "turnEnded":
      return { ...view, speech: "", tool: "", outcome: kind.value.error?.message || view.outcome };
    case "followUp":
      return afterMessage(view, kind.value.followUp);
    case "task":
      return { ...view, tasks: withTask(view.tasks, kind.value) };
    case "message":
      return { ...view, speech: lastLine(kind.value.text), tool: "" };
    case "toolCall":
      return { ...view, speech: "", tool: oneLine(kind.value.title) };
    case "inputRequested":
      return { ...view, outcome: kind.value.question };
    case "usage":
      return { ...view, cost: view.cost + kind.value.cost };
    case "error":
      return { ...view, outcome: kind.value.message };
    default:
      return view;
  }
}

function afterMessage(
  view: AgentView,
  followUp:
    | { followUpId: string; state: FollowUpState; deliverAt?: { seconds: bigint; nanos: number } | undefined }
    | undefined,
): AgentView {
  if (followUp === undefined) return view;
  const queued = new Set(view.queued);
  if (followUp.state === FollowUpState.QUEUED) queued.add(followUp.followUpId);
  else queued.delete(followUp.followUpId);
  const deferred = followUp.state === FollowUpState.DEFERRED && followUp.deliverAt;
  const dueMs = deferred ? Number(deferred.seconds) * 1000 + deferred.nanos / 1e6 : undefined;
  return { ...view, queued, wakeAtMs: dueMs ?? view.wakeAtMs };
}

function withTask(tasks: readonly Task[], task: Task): Task[] {
  const others = tasks.filter(({ id }) => id !== task.id);
  if (task.status === TaskStatus.DELETED) return others;
  return tasks.some(({ id }) => id === task.id)
    ? tasks.map((old) => (old.id === task.id ? task : old))
    : [...tasks, task];
}

function lastLine(text: string): string {
  const lines = text.trimEnd().split("\n");
  return lines.at(-1) ?? "";
}
