import { MissedRunPolicy } from "../../../gen/retinue/v1/catalog_pb.js";

/** Later than this, a time was missed: the server was down, or the clock has jumped. */
export const ON_TIME_MS = 90_000;
/** Of the missed ones, as many as ALL makes up for. */
export const MISSED_MAX = 100;

export interface DueTimes {
  /** Times that are to be done now, oldest first. */
  readonly run: readonly number[];
  /** The newest time that has passed: what comes up to it never comes again. */
  readonly passed: number | undefined;
  /** The time after that. */
  readonly next: number | undefined;
}

/**
 * What is due of a schedule at a moment. Times up to `afterMs` are dealt with, whatever the clock says: one that is set
 * back repeats nothing, and one that jumps ahead makes the times between missed ones.
 *
 * @param nextRun the first time after a moment
 */
export function dueTimes(
  nextRun: (afterMs: number) => number | undefined,
  afterMs: number,
  nowMs: number,
  policy: MissedRunPolicy,
): DueTimes {
  const passed = passedTimes(nextRun, afterMs, nowMs);
  const next = nextRun(passed.at(-1) ?? Math.max(afterMs, nowMs));
  const onTime = passed.filter((at) => nowMs - at <= ON_TIME_MS);
  const missed = passed.filter((at) => nowMs - at > ON_TIME_MS);
  return { run: [...madeUp(missed, onTime, policy), ...onTime], passed: passed.at(-1), next };
}

/** The newest times that have passed. Looks back further and further: a year of minutes would take seconds to walk. */
function passedTimes(
  nextRun: (afterMs: number) => number | undefined,
  afterMs: number,
  nowMs: number,
): number[] {
  for (let span = FIRST_LOOK_MS; ; span *= 4) {
    const from = Math.max(afterMs, nowMs - span);
    const found: number[] = [];
    for (let at = nextRun(from); at !== undefined && at <= nowMs; at = nextRun(at)) found.push(at);
    if (from === afterMs || found.length > MISSED_MAX) return found.slice(-MISSED_MAX - 1);
  }
}

const FIRST_LOOK_MS = 24 * 60 * 60 * 1000;

function madeUp(
  missed: readonly number[],
  onTime: readonly number[],
  policy: MissedRunPolicy,
): readonly number[] {
  switch (policy) {
    case MissedRunPolicy.SKIP:
      return [];
    case MissedRunPolicy.ALL:
      return missed.slice(-MISSED_MAX);
    default:
      // What is due anyway stands for what was missed before it.
      return onTime.length > 0 ? [] : missed.slice(-1);
  }
}
