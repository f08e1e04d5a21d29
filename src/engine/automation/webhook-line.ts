import type { Integration } from "../../../gen/retinue/v1/catalog_pb.js";
import { GIVE_UP_AFTER, retryDelayMs } from "../../domain/automation/retry.js";
import { webhookHeaders } from "../../domain/automation/standard-webhook.js";
import { type Poster, PostRefused } from "../../outbound/poster.js";
import type { AgentRow, EventRow } from "../../storage/agent-rows.js";
import type { Change, Store } from "../../storage/store.js";
import type { Clock } from "../clock.js";
import { webhookBody } from "./webhook-body.js";

export interface LineOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly poster: Poster;
  readonly name: string;
  /** With its name, what its cursors are kept under. */
  readonly createdAtMs: number;
  readonly document: Integration;
  readonly secret: string;
  /** The receiver is given up: called once, and nothing is posted afterwards. */
  readonly giveUp: (reason: string) => void;
}

/** Posts the logs of agents to one integration: in order per agent, and every event until it is taken. */
export interface WebhookLine {
  /** The agent's log has grown, or may have. */
  wake(uid: string): void;
  /** Commits a cursor that goes back, once nothing under way can move it on again. */
  rewind(uid: string, changes: readonly Change[]): Promise<void>;
  /** Ends what is under way; the cursors stand where they are. */
  stop(): Promise<void>;
}

/** Agents whose logs are posted at the same time. */
const SIDE_BY_SIDE = 8;
const PAGE = 100;
const GONE = 410;

export function openLine(options: LineOptions): WebhookLine {
  const { store, clock, poster, name, createdAtMs, document, secret, giveUp } = options;
  const waiting = new Set<string>();
  const atWork = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  let failures = 0;
  let pause: NodeJS.Timeout | undefined;

  function work(): void {
    for (const uid of waiting) {
      if (pause !== undefined || stopping.signal.aborted || atWork.size >= SIDE_BY_SIDE) return;
      if (atWork.has(uid)) continue;
      waiting.delete(uid);
      const done = drain(uid).catch((error: unknown) => failed(uid, error));
      const over = done.then(() => {
        atWork.delete(uid);
        work();
      });
      atWork.set(uid, over);
    }
  }

  async function drain(uid: string): Promise<void> {
    const row = (await store.agent(uid))?.row;
    if (row === undefined) return;
    let seq = (await store.webhookCursor({ uid, integration: name, createdAtMs }))?.seq;
    const sinceMs = seq === undefined ? createdAtMs : 0;
    for (;;) {
      const page = await store.events({ uid, afterSeq: seq ?? 0, types: [], runId: 0, limit: PAGE });
      for (const event of page) {
        if (stopping.signal.aborted || pause !== undefined) return void waiting.add(uid);
        if (event.atMs >= sinceMs && isWanted(row, event)) {
          await post(row, event);
          await moveTo(uid, event.seq);
        }
        seq = event.seq;
      }
      // What was passed over is not looked at again.
      if (page.length > 0) await moveTo(uid, seq as number);
      if (page.length < PAGE) return;
    }
  }

  function isWanted({ workspace }: AgentRow, { type }: EventRow): boolean {
    const { events, workspaces } = document;
    return (
      (events.length === 0 || events.includes(type)) &&
      (workspaces.length === 0 || workspaces.includes(workspace))
    );
  }

  async function post(row: AgentRow, event: EventRow): Promise<void> {
    const body = webhookBody(row, event);
    const headers = webhookHeaders(secret, { id: event.eventId, atMs: clock.nowMs(), body });
    const status = await poster.post(document.url, headers, body, stopping.signal);
    if (status < 200 || status > 299) throw new PostFailed(status);
    failures = 0;
  }

  function moveTo(uid: string, seq: number): Promise<void> {
    return store.commit([{ type: "webhookCursor", row: { uid, integration: name, createdAtMs, seq } }]);
  }

  function failed(uid: string, error: unknown): void {
    waiting.add(uid);
    // Others that failed at the same time, at the same receiver, are one failure with this one.
    if (stopping.signal.aborted || pause !== undefined) return;
    failures++;
    const hopeless = error instanceof PostRefused || (error instanceof PostFailed && error.status === GONE);
    if (hopeless || failures >= GIVE_UP_AFTER) {
      stopping.abort();
      giveUp(hopeless ? messageOf(error) : `${failures} failures in a row, the last: ${messageOf(error)}`);
      return;
    }
    pause = setTimeout(() => {
      pause = undefined;
      work();
    }, retryDelayMs(failures));
  }

  return {
    wake(uid) {
      waiting.add(uid);
      work();
    },
    async rewind(uid, changes) {
      // Held like one at work, so that nobody begins with the cursor that it replaces.
      while (atWork.has(uid)) await atWork.get(uid);
      const moved = store.commit(changes);
      const over = moved
        .catch(() => {})
        .then(() => {
          atWork.delete(uid);
          waiting.add(uid);
          work();
        });
      atWork.set(uid, over);
      await moved;
    },
    async stop() {
      stopping.abort();
      clearTimeout(pause);
      await Promise.all(atWork.values());
    },
  };
}

class PostFailed extends Error {
  constructor(readonly status: number) {
    super(`the receiver answered ${status}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
