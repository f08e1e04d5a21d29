import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Event, EventPayloadSchema, EventSchema } from "../../../gen/retinue/v1/event_pb.js";
import type { WatchResponseSchema } from "../../../gen/retinue/v1/timeline_service_pb.js";
import type { AgentKey } from "../../domain/agent/agent.js";
import { agentIdMessage } from "../../domain/agent/agent-id.js";
import type { EventRow } from "../../storage/agent-rows.js";
import type { Store } from "../../storage/store.js";
import type { Hub, LiveChunk } from "./hub.js";
import type { AgentViews } from "./reads.js";

type Update = MessageInitShape<typeof WatchResponseSchema>;

export interface WatchRequest {
  readonly uid: string;
  readonly key: AgentKey;
  /** Undefined: a snapshot first. */
  readonly afterSeq: number | undefined;
  readonly signal: AbortSignal;
}

const PAGE = 200;
const HEARTBEAT_MS = 15_000;
/** Live text that a slow reader has not taken is dropped: the whole message follows as an event. */
const MAX_CHUNKS = 1000;

/** The log from a cursor on, then as it grows: each event once, in order, until the terminal one. */
export async function* watchAgent(
  { store, hub, views }: { store: Store; hub: Hub; views: AgentViews },
  { uid, key, afterSeq, signal }: WatchRequest,
): AsyncGenerator<Update> {
  let wake = () => {};
  let changed = true;
  let chunks: LiveChunk[] = [];
  const stopListening = hub.listen(uid, {
    changed() {
      changed = true;
      wake();
    },
    said(chunk) {
      if (chunks.length < MAX_CHUNKS) chunks.push(chunk);
      wake();
    },
  });
  const onAbort = () => wake();
  signal.addEventListener("abort", onAbort);
  try {
    let seq = afterSeq ?? 0;
    let live = true;
    if (afterSeq === undefined) {
      const { status, agent } = await views.status(uid);
      seq = Number(status.lastSeq);
      live = agent.endedAtMs === undefined;
      yield { cursor: `${uid}:${seq}`, update: { case: "snapshot", value: status } };
    }
    // Tells a client that resumes at the tip that it is connected.
    else yield { update: { case: "heartbeat", value: {} } };
    while (live || afterSeq !== undefined) {
      changed = false;
      // Before the log: the message that they are pieces of must not come ahead of them.
      const said = chunks;
      chunks = [];
      for (const chunk of said)
        yield { update: { case: "liveText", value: { ...chunk, runId: BigInt(chunk.runId) } } };
      // Read before the log: what ends the agent after this look is found by the next.
      const row = (await store.agent(uid))?.row;
      for (;;) {
        const page = await store.events({ uid, afterSeq: seq, types: [], runId: 0, limit: PAGE });
        for (const event of page) {
          yield { cursor: `${uid}:${event.seq}`, update: { case: "event", value: eventMessage(event, key) } };
          seq = event.seq;
        }
        if (page.length < PAGE) break;
      }
      if (row === undefined || !row.live) return;
      signal.throwIfAborted();
      if (!changed && chunks.length === 0 && !(await woken((resolve) => (wake = resolve))))
        yield { update: { case: "heartbeat", value: {} } };
    }
  } finally {
    stopListening();
    signal.removeEventListener("abort", onAbort);
  }
}

/** True when something happened, false when a heartbeat is due. */
function woken(onWake: (resolve: () => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), HEARTBEAT_MS);
    onWake(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

export function eventMessage(row: EventRow, key: AgentKey): Event {
  return create(EventSchema, {
    seq: BigInt(row.seq),
    eventId: row.eventId,
    time: timestampFromMs(row.atMs),
    type: row.type,
    agentId: agentIdMessage(key, row.uid),
    runId: BigInt(row.runId),
    attempt: row.attempt,
    actor: row.actor,
    payload: fromBinary(EventPayloadSchema, row.payload),
  });
}
