import { fromBinary } from "@bufbuild/protobuf";
import type { AgentStatus } from "../../../gen/retinue/v1/agent_pb.js";
import { WaitReason } from "../../../gen/retinue/v1/agent_service_pb.js";
import { EventPayloadSchema, EventType } from "../../../gen/retinue/v1/event_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import type { Agent } from "../../domain/agent/agent.js";
import type { FollowUpRecord } from "../../domain/agent/follow-up.js";
import { followUpWaitEnd, waitEnd } from "../../domain/agent/wait.js";
import type { Store } from "../../storage/store.js";
import type { Hub } from "./hub.js";
import type { AgentViews } from "./reads.js";
import { followUpRecordOf } from "./rows.js";

export interface WaitRequest {
  readonly uid: string;
  /** Undefined: as long as the client stays. */
  readonly timeoutMs: number | undefined;
  /** Empty: for the agent itself. */
  readonly followUpId: string;
  readonly afterRun: number;
  readonly signal: AbortSignal;
}

const PAGE = 200;
/** Timers beyond 24.8 days fire at once; nobody waits that long without asking again. */
const MAX_TIMEOUT_MS = 24 * 24 * 60 * 60 * 1000;

/** Looks, and looks again whenever something about the agent is committed, until the wait is over. */
export async function waitForAgent(
  { store, hub, views }: { store: Store; hub: Hub; views: AgentViews },
  request: WaitRequest,
): Promise<{ reason: WaitReason; status: AgentStatus }> {
  const { uid, followUpId, signal } = request;
  let wake = () => {};
  let timedOut = false;
  let changed = false;
  const stopListening = hub.listen(uid, {
    changed() {
      changed = true;
      wake();
    },
  });
  const onAbort = () => wake();
  signal.addEventListener("abort", onAbort);
  const timer =
    request.timeoutMs === undefined
      ? undefined
      : setTimeout(
          () => {
            timedOut = true;
            wake();
          },
          Math.min(request.timeoutMs, MAX_TIMEOUT_MS),
        );
  try {
    for (;;) {
      changed = false;
      const { agent, status } = await views.status(uid);
      const followUp = followUpId === "" ? undefined : await followUpRecord(store, agent, followUpId);
      if (followUp === "newer") continue;
      const reason =
        followUpId === "" ? waitEnd(agent, request.afterRun) : followUpWaitEnd(agent, followUpId, followUp);
      if (reason !== undefined) return { reason, status };
      signal.throwIfAborted();
      if (timedOut) return { reason: WaitReason.TIMEOUT, status };
      if (!changed) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    clearTimeout(timer);
    stopListening();
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * What is known of a message as of the same moment as the agent; `newer` when the store has gone on since, and the
 * agent is to be read again: a message that is delivered already would look done to an agent without its turn.
 */
async function followUpRecord(
  store: Store,
  agent: Agent,
  followUpId: string,
): Promise<FollowUpRecord | "newer" | undefined> {
  const pending = [...agent.queued, ...agent.deferred].find((message) => message.followUpId === followUpId);
  if (pending !== undefined) return { ...pending, runId: 0 };
  const row = await store.followUp(agent.uid, followUpId);
  if (row === undefined) return removedRecord(store, agent.uid, followUpId);
  return row.pending || row.runId > agent.runCount ? "newer" : followUpRecordOf(row);
}

/** A removed message leaves no row, so that its ID is free again; the log still knows it. */
async function removedRecord(
  store: Store,
  uid: string,
  followUpId: string,
): Promise<FollowUpRecord | undefined> {
  const types = [EventType.FOLLOW_UP_REMOVED];
  for (let afterSeq = 0; ; ) {
    const page = await store.events({ uid, afterSeq, types, runId: 0, limit: PAGE });
    for (const { payload } of page) {
      const { kind } = fromBinary(EventPayloadSchema, payload);
      if (kind.case === "followUp" && kind.value.followUp?.followUpId === followUpId)
        return { followUpId, state: FollowUpState.REMOVED, fingerprint: "", runId: 0 };
    }
    if (page.length < PAGE) return undefined;
    afterSeq = page.at(-1)?.seq ?? 0;
  }
}
