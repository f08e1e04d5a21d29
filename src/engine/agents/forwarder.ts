import type { Logger } from "pino";
import type { Workspaces } from "../../runner/workspaces.js";
import type { PushRow } from "../../storage/agent-rows.js";
import type { Store } from "../../storage/store.js";
import type { Clock } from "../clock.js";

/** Hands pushes on to their upstreams, from what the store says is owed: at least once, and until it is done. */
export interface Forwarder {
  /** Something may be owed. */
  wake(): void;
  stop(): void;
}

export interface ForwarderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly workspaces: Workspaces;
  readonly log: Logger;
}

/** Upstreams that do not answer hold up that many, not everybody. */
const AT_ONCE = 4;
const BACK_OFF_FIRST_MS = 2000;
const BACK_OFF_MAX_MS = 600_000;

export function createForwarder({ store, clock, workspaces, log }: ForwarderOptions): Forwarder {
  const busy = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function wake(): void {
    clearTimeout(timer);
    look().catch((err: unknown) => {
      log.error({ err }, "could not read what is to be forwarded");
      again(BACK_OFF_FIRST_MS);
    });
  }

  function again(delayMs: number): void {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(wake, Math.min(Math.max(delayMs, 0), BACK_OFF_MAX_MS));
  }

  async function look(): Promise<void> {
    const rows = (await store.pendingPushes()).filter((row) => !busy.has(nameOf(row)));
    for (const row of rows) {
      if (stopped || busy.size >= AT_ONCE) return;
      if (row.dueAtMs > clock.nowMs()) return again(row.dueAtMs - clock.nowMs());
      busy.add(nameOf(row));
      void forward(row).finally(() => {
        busy.delete(nameOf(row));
        if (!stopped) wake();
      });
    }
  }

  async function forward(row: PushRow): Promise<void> {
    const { uid, repo, branch, commit } = row;
    try {
      await workspaces.forward(row);
      await store.commit([{ type: "pushForwarded", row: { uid, repo, branch, forwardedCommit: commit } }]);
    } catch (err) {
      if (stopped) return;
      const attempts = row.attempts + 1;
      const dueAtMs = clock.nowMs() + Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** (attempts - 1));
      const error = err instanceof Error ? err.message : String(err);
      log.warn({ uid, repo, branch, attempts, error }, "could not forward a push");
      await store
        .commit([{ type: "pushFailed", row: { uid, repo, branch, commit, attempts, dueAtMs, error } }])
        .catch((failure: unknown) => log.error({ err: failure, uid }, "could not record a failed forward"));
    }
  }

  return {
    wake,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

function nameOf({ uid, repo, branch }: PushRow): string {
  return JSON.stringify([uid, repo, branch]);
}
