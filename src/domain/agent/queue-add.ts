import { Code } from "../../../gen/google/rpc/code_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import { Fault, failedPrecondition, invalidField, resourceExhausted } from "../fault.js";
import { quoted } from "../name.js";
import type { Agent } from "./agent.js";
import { type Context, change, type Decision, type Draft, decided, openDraft } from "./decision.js";
import {
  type FollowUp,
  type FollowUpRecord,
  type FollowUpRequest,
  followUpFingerprint,
} from "./follow-up.js";
import { cutTurn } from "./interrupt.js";
import type { Limits } from "./limits.js";
import { requireAlive } from "./phase.js";
import { clearQueued, defer, enqueue, promoteDue } from "./queue.js";
import { followUpSettings, type PersonaDocument, type SettingsKnowledge } from "./settings-check.js";
import { settle } from "./settle.js";
import { acceptTasks } from "./task-input.js";
import { checkText } from "./text.js";

export interface QueueAdd {
  readonly request: FollowUpRequest;
  /** `<provider_name>/<account>`. */
  readonly sender: string;
  /** Used where the request has no ID of its own. */
  readonly mintedId: string;
  /** What the store has under the request's ID, delivered and cleared messages included. */
  readonly existing: FollowUpRecord | undefined;
  /** The document that `request.agent` names; undefined: it names none, or there is none. */
  readonly persona: PersonaDocument | undefined;
  readonly known: SettingsKnowledge;
}

export interface Receipt {
  readonly followUpId: string;
  readonly state: FollowUpState;
  /** From 1; 0 unless QUEUED. */
  readonly position: number;
  /** False when the request repeats an earlier one: nothing was added and nothing preempted. */
  readonly added: boolean;
  readonly clearedIds: readonly string[];
  /** 0: none. */
  readonly interruptedRunId: number;
}

/** Queues a message, or defers it. The ID is looked up before every other check, so that a retry is safe. */
export function queueAdd(agent: Agent, input: QueueAdd, context: Context): Decision<Receipt> {
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  const fingerprint = followUpFingerprint(input.request);
  const earlier = earlierReceipt(draft.agent, input, fingerprint);
  if (earlier !== undefined) {
    settle(draft, context);
    return decided(draft, earlier);
  }
  requireAlive(draft.agent);
  checkRequest(input.request, context);
  const followUp = accept(draft, input, fingerprint, context);
  const receipt = { followUpId: followUp.followUpId, added: true, clearedIds: [], interruptedRunId: 0 };
  if (followUp.state === FollowUpState.DEFERRED) {
    requireRoom(draft.agent.deferred.length, context.limits.deferred, "DEFERRED_FULL", "deferred");
    defer(draft, followUp);
    settle(draft, context);
    return decided(draft, { ...receipt, state: FollowUpState.DEFERRED, position: 0 });
  }
  const preempted = input.request.preempt ? preempt(draft, followUp.followUpId, context) : {};
  const held = draft.agent.queued.filter((queued) => queued.origin !== "child").length;
  requireRoom(held, context.limits.queued, "QUEUE_FULL", "queued");
  enqueue(draft, followUp);
  const position = draft.agent.queued.length;
  settle(draft, context);
  return decided(draft, { ...receipt, state: FollowUpState.QUEUED, position, ...preempted });
}

function earlierReceipt(agent: Agent, input: QueueAdd, fingerprint: string): Receipt | undefined {
  const { followUpId } = input.request;
  if (followUpId === "") return undefined;
  const position = agent.queued.findIndex((queued) => queued.followUpId === followUpId) + 1;
  const pending = agent.queued[position - 1] ?? agent.deferred.find((d) => d.followUpId === followUpId);
  const known = pending ?? input.existing;
  // Free again after queue-remove: that is how one re-arms a message.
  if (known === undefined || known.state === FollowUpState.REMOVED) return undefined;
  if (known.fingerprint !== fingerprint) {
    const text = `followUpId ${quoted(followUpId)} is taken by a message with other content`;
    throw new Fault(Code.ALREADY_EXISTS, "FOLLOW_UP_ID_TAKEN", text, { metadata: { followUpId } });
  }
  return { followUpId, state: known.state, position, added: false, clearedIds: [], interruptedRunId: 0 };
}

function checkRequest(request: FollowUpRequest, { nowMs, limits }: Context): void {
  if (request.followUpId.length > limits.followUpIdLength) {
    throw invalidField("followUpId", `longer than ${limits.followUpIdLength} characters`, "FIELD_TOO_LONG");
  }
  checkText("description", request.description, request.tasks, limits);
  if (request.deliverAtMs === undefined) return;
  if (request.preempt) {
    throw invalidField("deliverAt", "cannot be combined with preempt", "DELIVER_AT_WITH_PREEMPT");
  }
  if (!(request.deliverAtMs > nowMs)) {
    throw invalidField("deliverAt", "must be strictly in the future", "DELIVER_AT_NOT_FUTURE");
  }
  if (request.deliverAtMs > nowMs + limits.deferMs) {
    throw invalidField(
      "deliverAt",
      `at most ${limits.deferMs / 86_400_000} days ahead`,
      "DELIVER_AT_TOO_FAR",
    );
  }
}

function accept(draft: Draft, input: QueueAdd, fingerprint: string, { nowMs, limits }: Context): FollowUp {
  const { request, persona } = input;
  if (request.agent !== "" && persona === undefined) {
    throw invalidField("agent", `there is no persona ${quoted(request.agent)}`, "PERSONA_NOT_FOUND");
  }
  const { model, reasoningEffort, serviceTier, fastMode, outputSchema } = request;
  const fields = { model, reasoningEffort, serviceTier, fastMode, outputSchema };
  const settings = followUpSettings(draft.agent.settings, fields, persona, input.known, limits);
  const tasks = acceptTasks(draft, request.tasks, limits);
  const { deliverAtMs } = request;
  if (deliverAtMs !== undefined && !draft.agent.runtime.capabilities.includes("deferral")) {
    const text = "deliverAt: the agent's build has no support for deferred messages";
    throw failedPrecondition("DEFERRAL_UNSUPPORTED", draft.agent.key.path.join("/"), text);
  }
  const { counters } = draft.agent;
  const arrival = counters.arrivals + 1;
  change(draft, { counters: { ...counters, arrivals: arrival } });
  return {
    followUpId: request.followUpId === "" ? input.mintedId : request.followUpId,
    state: deliverAtMs === undefined ? FollowUpState.QUEUED : FollowUpState.DEFERRED,
    origin: "caller",
    childUid: "",
    sender: input.sender,
    description: request.description,
    tasks,
    settings,
    deliverAtMs,
    acceptedAtMs: nowMs,
    arrival,
    place: 0,
    fingerprint,
  };
}

/** Clears the queue and cuts the turn, in the commit that queues the message: it is next in every case. */
function preempt(
  draft: Draft,
  by: string,
  context: Context,
): Pick<Receipt, "clearedIds" | "interruptedRunId"> {
  const cleared = clearQueued(draft, `preempted by ${by}`);
  const runId = draft.agent.turn?.runId ?? 0;
  const interruptedRunId = cutTurn(draft, "PREEMPT", context) ? runId : 0;
  return { clearedIds: cleared.map(({ followUpId }) => followUpId), interruptedRunId };
}

function requireRoom(count: number, limit: Limits["queued"], reason: string, what: string): void {
  if (count < limit) return;
  throw resourceExhausted(reason, `the agent already has ${count} ${what} messages; at most ${limit}`);
}
