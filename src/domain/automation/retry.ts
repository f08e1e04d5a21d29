const FIRST_MS = 1000;
const LONGEST_MS = 5 * 60_000;

/** Failures in a row after which a receiver is given up: it has then been away for about an hour. */
export const GIVE_UP_AFTER = 20;

/** How long to wait after so many failures in a row: 1 s, doubled each time, at most 5 minutes. */
export function retryDelayMs(failures: number): number {
  return Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS);
}
