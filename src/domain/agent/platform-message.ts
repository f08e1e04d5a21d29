import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import { TaskStatus } from "../../../gen/retinue/v1/task_pb.js";
import { resourceExhausted } from "../fault.js";
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
import type { FollowUp, FollowUpRecord } from "./follow-up.js";
import { requireAlive } from "./phase.js";
import { enqueue, promoteDue } from "./queue.js";
import { NO_SETTINGS } from "./settings.js";
import { settle } from "./settle.js";
import type { Task } from "./task.js";
import { mintTaskIds, requireTaskRoom } from "./task-input.js";

/** A message that nobody wrote: a review comment, news of a child. */
export interface PlatformMessage {
  readonly followUpId: string;
  readonly description: string;
  readonly tasks: readonly PlatformTask[];
}

/** A task of such a message; these may be ephemeral and carry a `dedupKey`. Its ID is always minted. */
export type PlatformTask = Pick<Task, "subject" | "description" | "dedupKey" | "ephemeral">;

/**
 * Queues a message of the platform, for example of a code host. Limited like a caller's. Code hosts deliver more than
 * once: an ID that is known already, whatever became of its message, adds nothing.
 *
 * @param existing what the store has under the message's ID
 */
export function queuePlatformMessage(
  agent: Agent,
  { message, existing }: { readonly message: PlatformMessage; readonly existing: FollowUpRecord | undefined },
  context: Context,
): Decision<{ readonly added: boolean }> {
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  const pending = draft.agent.queued.some(({ followUpId }) => followUpId === message.followUpId);
  if (pending || existing !== undefined) return unchanged(agent, { added: false });
  requireAlive(draft.agent);
  requireTaskRoom(draft.agent, message.tasks.length, context.limits);
  const held = draft.agent.queued.filter((queued) => queued.origin !== "child").length;
  if (held >= context.limits.queued) {
    throw resourceExhausted("QUEUE_FULL", `the agent already has ${held} queued messages`);
  }
  enqueuePlatform(draft, message, "platform", "", context.nowMs);
  settle(draft, context);
  return decided(draft, { added: true });
}

export function enqueuePlatform(
  draft: Draft,
  message: PlatformMessage,
  origin: FollowUp["origin"],
  childUid: string,
  nowMs: number,
): void {
  const ids = mintTaskIds(draft, message.tasks.length);
  const { counters } = draft.agent;
  const arrival = counters.arrivals + 1;
  change(draft, { counters: { ...counters, arrivals: arrival } });
  enqueue(draft, {
    followUpId: message.followUpId,
    state: FollowUpState.QUEUED,
    origin,
    childUid,
    sender: "platform",
    description: message.description,
    tasks: message.tasks.map((task, i) => platformTask(task, ids[i] as string)),
    settings: { fields: NO_SETTINGS, persona: undefined },
    deliverAtMs: undefined,
    acceptedAtMs: nowMs,
    arrival,
    place: 0,
    fingerprint: "",
  });
}

function platformTask(task: PlatformTask, id: string): Task {
  return { ...PLAIN_TASK, ...task, id };
}

const PLAIN_TASK = {
  status: TaskStatus.PENDING,
  blocks: [],
  blockedBy: [],
  filesModified: undefined,
  persona: "",
  active: true,
} satisfies Partial<Task>;
