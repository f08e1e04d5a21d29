import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { FollowUpSchema, FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import type { RequestedSettings, SettingFields } from "./settings.js";
import type { Task, TaskInput } from "./task.js";

/** A message that waits for its agent: DEFERRED or QUEUED. */
export interface FollowUp {
  readonly followUpId: string;
  readonly state: FollowUpState.DEFERRED | FollowUpState.QUEUED;
  /** A caller's message has a turn to itself; made by the platform, it shares one with its neighbours. */
  readonly origin: "caller" | "child" | "platform";
  /** The child that it tells of; empty otherwise. */
  readonly childUid: string;
  /** `<provider_name>/<account>`, or `platform`. */
  readonly sender: string;
  readonly description: string;
  /** Applied at delivery; their IDs are taken from now on. */
  readonly tasks: readonly Task[];
  readonly settings: RequestedSettings;
  readonly deliverAtMs: number | undefined;
  readonly acceptedAtMs: number;
  /** Order of acceptance; decides among deferred messages that are due at the same time. */
  readonly arrival: number;
  /** Order in the queue, ascending; 0 while deferred. */
  readonly place: number;
  /** Digest of the request, to tell a repeated one from another under the same ID. */
  readonly fingerprint: string;
}

/** What the store knows of a message under an ID, whatever became of it. */
export interface FollowUpRecord {
  readonly followUpId: string;
  readonly state: FollowUpState;
  readonly fingerprint: string;
  /** Run that it was delivered to; 0: none. */
  readonly runId: number;
}

/** The request of queue-add, without the agent. */
export interface FollowUpRequest extends SettingFields {
  /** Empty: the server mints one. */
  readonly followUpId: string;
  readonly description: string;
  readonly tasks: readonly TaskInput[];
  readonly agent: string;
  readonly preempt: boolean;
  readonly deliverAtMs: number | undefined;
}

/** All fields but the ID itself: two requests are the same exactly when this is. */
export function followUpFingerprint(request: FollowUpRequest): string {
  const { description, tasks, agent, outputSchema, model, reasoningEffort, serviceTier } = request;
  const { fastMode, preempt, deliverAtMs } = request;
  return digest([
    description,
    tasks.map(taskKey),
    agent,
    outputSchema,
    model,
    reasoningEffort,
    serviceTier,
    fastMode ?? null,
    preempt,
    deliverAtMs ?? null,
  ]);
}

/** Stable for equal values: arrays only, so that no order of keys plays a part. */
export function digest(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

export function taskKey(task: TaskInput): unknown[] {
  const { condition } = task.activation ?? { condition: { case: undefined } };
  const activation = condition.case === "filesModified" ? [condition.value.pattern] : null;
  const { id, subject, description, status, blocks, blockedBy, persona, dedupKey, ephemeral } = task;
  return [id, subject, description, status, blocks, blockedBy, activation, persona, dedupKey, ephemeral];
}

/** The message as answers and events show it. */
export function followUpMessage(
  followUp: FollowUp,
  state: FollowUpState,
  position: number,
): MessageInitShape<typeof FollowUpSchema> {
  const { followUpId, description, sender, deliverAtMs, acceptedAtMs } = followUp;
  return {
    followUpId,
    state,
    description,
    sender,
    position,
    queuedAt: timestampFromMs(acceptedAtMs),
    ...(deliverAtMs === undefined ? {} : { deliverAt: timestampFromMs(deliverAtMs) }),
  };
}
