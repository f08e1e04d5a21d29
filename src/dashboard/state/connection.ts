import { signal } from "@preact/signals";

/** Since when the server has not been reached; undefined while it is. */
export const lostSince = signal<number>();

export function reached(): void {
  lostSince.value = undefined;
}

export function lost(): void {
  lostSince.value ??= Date.now();
}

const LONGEST_MS = 15_000;

/** How long to leave a server alone after so many failures in a row: 0.5 s, 1 s, 2 s, … with some spread. */
export function pauseAfter(failures: number): number {
  return Math.min(LONGEST_MS, 250 * 2 ** failures) * (0.75 + Math.random() / 2);
}

/** Waits; wakes early when the browser says that the network or the tab is back. Rejects when aborted. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (end: () => void) => () => {
      clearTimeout(timer);
      removeEventListener("online", wake);
      document.removeEventListener("visibilitychange", onVisible);
      signal.removeEventListener("abort", stop);
      end();
    };
    const wake = done(resolve);
    const stop = done(() => reject(signal.reason));
    const onVisible = () => {
      if (!document.hidden) wake();
    };
    const timer = setTimeout(wake, milliseconds);
    addEventListener("online", wake);
    document.addEventListener("visibilitychange", onVisible);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
  });
}

/** Resolves once the tab is looked at; rejects when aborted. */
export function looked(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", check);
      signal.removeEventListener("abort", check);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    document.addEventListener("visibilitychange", check);
    signal.addEventListener("abort", check);
    check();
  });
}
