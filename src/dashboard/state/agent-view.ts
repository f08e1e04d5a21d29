import { Code, ConnectError } from "@connectrpc/connect";
import { batch, signal } from "@preact/signals";
import type { AgentStatus } from "../../../gen/retinue/v1/agent_pb.js";
import { type Event, EventType } from "../../../gen/retinue/v1/event_pb.js";
import type { WatchResponse } from "../../../gen/retinue/v1/timeline_service_pb.js";
import { isTerminal } from "../text/phases.js";
import { agents, messageOf, timeline } from "./api.js";
import { looked, lost, pause, pauseAfter, reached } from "./connection.js";

const PAGE = 200;
/** The server sends a heartbeat each 15 s; silence beyond that is a connection that died without a word. */
const SILENCE_MS = 40_000;
const SETTLE_MS = 120;
const STATUS_MS = 3000;

export type AgentView = ReturnType<typeof createAgentView>;

/** An agent that is open: its status, its log as far as it is loaded, and what it is saying now. */
export function createAgentView(uid: string) {
  const status = signal<AgentStatus>();
  const events = signal<readonly Event[]>([]);
  const liveText = signal("");
  const error = signal("");
  /** The log is not shown to this key. */
  const withoutLog = signal(false);
  const closed = new AbortController();
  const agentId = { uid };
  let lastSeq: bigint | undefined;
  let due = false;

  async function refresh(): Promise<void> {
    status.value = (await agents.getAgentStatus({ agentId }, { signal: closed.signal })).status;
  }

  /** What the log tells changes the status, too; a burst of events is one look. */
  function refreshSoon(): void {
    if (due) return;
    due = true;
    setTimeout(() => {
      due = false;
      refresh().catch(() => {});
    }, SETTLE_MS);
  }

  function take({ update }: WatchResponse): void {
    if (update.case === "snapshot") {
      lastSeq = update.value.lastSeq;
      status.value = update.value;
    } else if (update.case === "event") {
      const event = update.value;
      lastSeq = event.seq;
      batch(() => {
        events.value = [...events.peek(), event];
        if (endsLiveText(event.type)) liveText.value = "";
      });
      refreshSoon();
    } else if (update.case === "liveText") {
      liveText.value += update.value.text;
    }
  }

  async function follow(): Promise<void> {
    let failures = 0;
    while (!closed.signal.aborted) {
      try {
        await looked(closed.signal);
        if (lastSeq === undefined) await loadEnd();
        await watchOnce(() => {
          failures = 0;
        });
        await refresh();
        // A log ends with its agent, or with the server.
        if (isTerminal(status.peek()?.phase)) return;
      } catch (why) {
        if (closed.signal.aborted) return;
        if (document.hidden) continue;
        if (withoutLog.peek()) return followStatus();
        if (!worthAnotherTry(why)) {
          error.value = messageOf(why);
          return;
        }
      }
      lost();
      try {
        await pause(pauseAfter(++failures), closed.signal);
      } catch {
        return;
      }
    }
  }

  /** For a key that may see the status and no log. */
  async function followStatus(): Promise<void> {
    for (let failures = 0; !closed.signal.aborted && !isTerminal(status.peek()?.phase); ) {
      try {
        await pause(failures === 0 ? STATUS_MS : pauseAfter(failures), closed.signal);
        await refresh();
        failures = 0;
        reached();
      } catch (why) {
        if (closed.signal.aborted || !worthAnotherTry(why)) return;
        failures += 1;
        lost();
      }
    }
  }

  /** The status and the newest page of the log, from which the watch goes on. */
  async function loadEnd(): Promise<void> {
    await refresh();
    const seq = status.peek()?.lastSeq ?? 0n;
    try {
      const afterSeq = seq > PAGE ? seq - BigInt(PAGE) : 0n;
      const page = await timeline.listEvents(
        { agentId, afterSeq, pageSize: PAGE },
        { signal: closed.signal },
      );
      events.value = page.events;
      lastSeq = page.events.at(-1)?.seq ?? seq;
    } catch (why) {
      if (!(why instanceof ConnectError) || why.code !== Code.PermissionDenied) throw why;
      withoutLog.value = true;
      throw why;
    }
  }

  async function watchOnce(onSign: () => void): Promise<void> {
    const quiet = new AbortController();
    const signal = AbortSignal.any([closed.signal, quiet.signal]);
    let alarm: ReturnType<typeof setTimeout> | undefined;
    // A browser has six connections to a server over HTTP/1.1, for all of its tabs: those that nobody looks at hold none.
    const onHidden = () => {
      if (document.hidden) quiet.abort();
    };
    document.addEventListener("visibilitychange", onHidden);
    try {
      const cursor = { afterSeq: lastSeq ?? 0n, afterUid: uid };
      for await (const response of timeline.watch({ agentId, ...cursor }, { signal })) {
        clearTimeout(alarm);
        alarm = setTimeout(() => quiet.abort(), SILENCE_MS);
        reached();
        onSign();
        take(response);
      }
    } finally {
      document.removeEventListener("visibilitychange", onHidden);
      clearTimeout(alarm);
      liveText.value = "";
    }
  }

  async function loadEarlier(): Promise<void> {
    const first = events.peek()[0]?.seq ?? 1n;
    if (first <= 1n) return;
    const afterSeq = first - 1n > PAGE ? first - 1n - BigInt(PAGE) : 0n;
    const pageSize = Number(first - 1n - afterSeq);
    const page = await timeline.listEvents({ agentId, afterSeq, pageSize });
    events.value = [...page.events.filter(({ seq }) => seq < first), ...events.peek()];
  }

  void follow();
  return {
    uid,
    agentId,
    status,
    events,
    liveText,
    error,
    withoutLog,
    refresh,
    loadEarlier,
    close: () => closed.abort(),
  };
}

function endsLiveText(type: EventType): boolean {
  return type === EventType.MESSAGE || type === EventType.TURN_ENDED || type === EventType.TURN_STARTED;
}

/** A server that goes away and comes back ends streams in several ways; these are the ones it means. */
function worthAnotherTry(why: unknown): boolean {
  if (!(why instanceof ConnectError)) return false;
  const final = [Code.NotFound, Code.PermissionDenied, Code.Unauthenticated, Code.InvalidArgument];
  return !final.includes(why.code);
}
