/** Turns a session's running total into what has been added since the last look. */
export interface CostMeter {
  /** The session goes on in a new process; `total` is the last one that the old process told. */
  resumeAt(total: number): void;
  /** From here on a total is money spent in this process. */
  prompted(): void;
  /** What the new total adds: never negative. */
  read(total: number): number;
  /** The last total seen, for the session's next process. */
  total(): number;
}

/**
 * Totals are cumulative per session, but programs differ on what a new process begins with: 0, the old total, or less
 * than that after a crash. A total that comes before the first prompt says which. Where none comes, the first one is
 * taken as begun anew if it lies nearer to 0 than to the old total; and money never flows back.
 */
export function createCostMeter(): CostMeter {
  let last = 0;
  let spending = false;
  let fresh = true;
  return {
    resumeAt(total) {
      if (fresh) last = total;
    },
    prompted() {
      spending = true;
    },
    read(total) {
      if (!Number.isFinite(total) || total < 0) return 0;
      const begunAnew = fresh && spending && total < last / 2;
      const delta = spending ? Math.max(0, total - (begunAnew ? 0 : last)) : 0;
      last = total;
      fresh = false;
      return delta;
    },
    total: () => last,
  };
}
