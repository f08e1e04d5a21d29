import { setTimeout as sleep } from "node:timers/promises";
import type { AgentId } from "../../../gen/retinue/v1/agent_id_pb.js";
import type { WatchResponse } from "../../../gen/retinue/v1/timeline_service_pb.js";
import { usageError } from "../exit.js";
import { isTransient } from "../explain.js";
import type { Server } from "../server.js";
import { hasEnded } from "../words.js";

/** A place in an agent's log: `uid:seq`. */
export interface Cursor {
  readonly uid: string;
  readonly seq: bigint;
}

export interface WatchOptions {
  /** Absent: a snapshot, then what follows it. */
  readonly after?: Cursor | undefined;
  readonly signal: AbortSignal;
  /** True when the stream broke and is being opened again, false when it is back. */
  readonly onLost?: (lost: boolean) => void;
}

/** Heartbeats come every 15 seconds: a stream that is silent for longer is dead, whatever TCP believes. */
const SILENCE_MS = 45_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/**
 * Follows an agent's log to its end, over every interruption: resumes at the cursor, nothing lost and nothing twice. For
 * an agent that the server has just told of: a server that is not there is waited for.
 */
export async function* watch(
  server: Server,
  agentId: AgentId,
  options: WatchOptions,
): AsyncGenerator<WatchResponse> {
  const { signal, onLost = () => {} } = options;
  let { after } = options;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    try {
      for await (const response of stream(server, agentId, after, signal)) {
        if (pauseMs > FIRST_PAUSE_MS) onLost(false);
        pauseMs = FIRST_PAUSE_MS;
        if (response.cursor !== "") after = parseCursor(response.cursor);
        yield response;
        if (isLast(response)) return;
      }
      if (await hasRead(server, agentId, after, signal)) return;
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error;
    }
    signal.throwIfAborted();
    onLost(true);
    await sleep(pauseMs, undefined, { signal });
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

export function parseCursor(text: string): Cursor {
  const [, uid, seq] = /^([^:]*):(\d+)$/.exec(text) ?? [];
  if (uid === undefined || seq === undefined) throw usageError(`${text} is no cursor: write it as uid:seq`);
  return { uid, seq: BigInt(seq) };
}

async function* stream(
  server: Server,
  agentId: AgentId,
  after: Cursor | undefined,
  signal: AbortSignal,
): AsyncGenerator<WatchResponse> {
  const dead = new AbortController();
  const leave = () => dead.abort();
  signal.addEventListener("abort", leave, { once: true });
  let alarm = setTimeout(leave, SILENCE_MS);
  try {
    const request = after === undefined ? { agentId } : { agentId, afterSeq: after.seq, afterUid: after.uid };
    for await (const response of server.timeline.watch(request, { signal: dead.signal })) {
      clearTimeout(alarm);
      yield response;
      alarm = setTimeout(leave, SILENCE_MS);
    }
  } catch (error) {
    // Silence ends the stream; it is the caller who opens the next.
    if (!dead.signal.aborted || signal.aborted) throw error;
  } finally {
    clearTimeout(alarm);
    signal.removeEventListener("abort", leave);
    // A reader that has seen enough: the request would stay open, and keep the process alive.
    dead.abort();
  }
}

/** A stream that was opened at the end of a log ends without a word, and so does one whose server goes down. */
async function hasRead(
  server: Server,
  agentId: AgentId,
  after: Cursor | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const { status } = await server.agents.getAgentStatus({ agentId }, { signal });
  return status !== undefined && hasEnded(status.phase) && after !== undefined && status.lastSeq <= after.seq;
}

/** Whether nothing can follow: a log ends with the terminal phase. */
function isLast({ update }: WatchResponse): boolean {
  if (update.case === "snapshot") return hasEnded(update.value.phase);
  const kind = update.case === "event" ? update.value.payload?.kind : undefined;
  return kind?.case === "phase" && hasEnded(kind.value.to);
}
