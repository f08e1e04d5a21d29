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

export interface WatchTarget {
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
const HEARTBEAT: Update = { update: { case: "heartbeat", value: {} } };

/**
 * The log from a cursor on, then as it grows: each event once, in order, until the terminal one. Whoever watches may
 * do so for hours while nothing happens, and a generator holds what its own variables have last held: so what is
 * large is left to functions and generators that end.
 */
export async function* watchAgent(
  { store, hub, views }: { store: Store; hub: Hub; views: AgentViews },
  find: () => Promise<WatchTarget>,
): AsyncGenerator<Update> {
  const { uid, key, afterSeq, signal } = await find();
  let wake = () => {};
  let changed = true;
  const chunks: LiveChunk[] = [];
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
    if (afterSeq === undefined) {
      const snapshot = yield* snapshotOf(views, uid);
      seq = snapshot.seq;
      if (!snapshot.live) return;
    }
    // Tells a client that resumes at the tip that it is connected.
    else yield HEARTBEAT;
    for (;;) {
      changed = false;
      // Before the log: the message that they are pieces of must not come ahead of them.
      yield* liveText(chunks.splice(0));
      // Read before the log: what ends the agent after this look is found by the next.
      const live = await store.isLive(uid);
      seq = yield* eventsAfter(store, uid, key, seq);
      if (!live) return;
      signal.throwIfAborted();
      if (!changed && chunks.length === 0 && !(await woken((resolve) => (wake = resolve)))) yield HEARTBEAT;
    }
  } finally {
    stopListening();
    signal.removeEventListener("abort", onAbort);
  }
}

async function* snapshotOf(
  views: AgentViews,
  uid: string,
): AsyncGenerator<Update, { readonly seq: number; readonly live: boolean }> {
  const { status, agent } = await views.status(uid);
  const seq = Number(status.lastSeq);
  yield { cursor: `${uid}:${seq}`, update: { case: "snapshot", value: status } };
  return { seq, live: agent.endedAtMs === undefined };
}

function* liveText(chunks: readonly LiveChunk[]): Generator<Update> {
  for (const chunk of chunks)
    yield { update: { case: "liveText", value: { ...chunk, runId: BigInt(chunk.runId) } } };
}

/** What the log holds beyond a cursor by now; returns the cursor after it. */
async function* eventsAfter(
  store: Store,
  uid: string,
  key: AgentKey,
  afterSeq: number,
): AsyncGenerator<Update, number> {
  for (let seq = afterSeq; ; ) {
    const page = await store.events({ uid, afterSeq: seq, types: [], runId: 0, limit: PAGE });
    for (const event of page) {
      yield { cursor: `${uid}:${event.seq}`, update: { case: "event", value: eventMessage(event, key) } };
      seq = event.seq;
    }
    if (page.length < PAGE) return seq;
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
