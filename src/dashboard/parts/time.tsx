import { now } from "../state/clock.js";
import { clockTime, dateTime, duration, shortDate } from "../text/format.js";

/** How long ago, kept up to date. */
export function Ago({ ms }: { ms: number | undefined }) {
  if (ms === undefined) return <span class="dim">never</span>;
  const passed = now.value - ms;
  return (
    <time dateTime={new Date(ms).toISOString()} title={dateTime(ms)}>
      {passed < 5000 ? "just now" : `${duration(passed)} ago`}
    </time>
  );
}

/** For how long, kept up to date. */
export function For({ ms = now.value }: { ms: number | undefined }) {
  return (
    <time dateTime={new Date(ms).toISOString()} title={dateTime(ms)}>
      {duration(now.value - ms)}
    </time>
  );
}

/** How long until, to the second. */
export function Countdown({ ms }: { ms: number }) {
  const left = ms - now.value;
  return (
    <time class="countdown" dateTime={new Date(ms).toISOString()} title={dateTime(ms)}>
      {left <= 0 ? "due now" : `in ${duration(left)}`}
    </time>
  );
}

export function At({ ms }: { ms: number | undefined }) {
  if (ms === undefined) return null;
  return (
    <time dateTime={new Date(ms).toISOString()} title={dateTime(ms)}>
      {clockTime(ms)}
    </time>
  );
}

export function OnDate({ ms }: { ms: number | undefined }) {
  if (ms === undefined) return <span class="dim">–</span>;
  return (
    <time dateTime={new Date(ms).toISOString()} title={dateTime(ms)}>
      {shortDate(ms)}
    </time>
  );
}
