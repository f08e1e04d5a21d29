/** Wakes agents at their times: one timer for all of them, set for the earliest. */
export interface Timers {
  /** Undefined: nothing to wake it for. */
  set(uid: string, atMs: number | undefined): void;
  /** At that time, unless it is woken earlier anyway. */
  setAtLatest(uid: string, atMs: number): void;
  stop(): void;
}

/** A timer does not see that the clock was set, or that the machine slept: no longer than this it goes unnoticed. */
const MAX_DELAY_MS = 10_000;

export function createTimers(nowMs: () => number, wake: (uid: string) => void): Timers {
  const times = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let armedFor = Number.POSITIVE_INFINITY;

  function arm(atMs: number): void {
    if (atMs >= armedFor) return;
    clearTimeout(timer);
    armedFor = atMs;
    timer = setTimeout(fire, Math.min(Math.max(0, atMs - nowMs()), MAX_DELAY_MS));
  }

  function fire(): void {
    armedFor = Number.POSITIVE_INFINITY;
    const now = nowMs();
    let next = Number.POSITIVE_INFINITY;
    for (const [uid, atMs] of times) {
      if (atMs > now) {
        next = Math.min(next, atMs);
        continue;
      }
      times.delete(uid);
      wake(uid);
    }
    if (next < Number.POSITIVE_INFINITY) arm(next);
  }

  function set(uid: string, atMs: number | undefined): void {
    if (atMs === undefined) {
      times.delete(uid);
      return;
    }
    times.set(uid, atMs);
    arm(atMs);
  }

  return {
    set,
    setAtLatest: (uid, atMs) => set(uid, Math.min(atMs, times.get(uid) ?? atMs)),
    stop() {
      clearTimeout(timer);
      times.clear();
      armedFor = Number.NEGATIVE_INFINITY;
    },
  };
}
