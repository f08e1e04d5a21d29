import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { usageError } from "./exit.js";

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;

/** Milliseconds in `90s`, `2h`, `1h30m`, `1.5d`. */
export function parseDuration(text: string, option: string): number {
  if (!DURATION.test(text)) throw usageError(`${option} ${text}: write a duration like 90s, 2h, 1h30m or 3d`);
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    sum += Number(amount) * (UNIT_MS[unit as string] as number);
  }
  return sum;
}

/** A moment: RFC 3339, a local date and time, or a local time of day, which is the next such time. */
export function parseTime(text: string, option: string, now: Date): Date {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec(text) ?? [];
  if (hours !== undefined && Number(hours) < 24 && Number(minutes) < 60) {
    const time = new Date(now);
    time.setHours(Number(hours), Number(minutes), 0, 0);
    if (time <= now) time.setDate(time.getDate() + 1);
    return time;
  }
  const time = new Date(/^\d{4}-\d{2}-\d{2}[T ]\d{1,2}:\d{2}/.test(text) ? text : Number.NaN);
  if (Number.isNaN(time.getTime())) {
    throw usageError(
      `${option} ${text}: write a time like 2026-11-30T09:00:00Z, "2026-11-30 09:00" or 09:00`,
    );
  }
  return time;
}

/** The moment that `--at` and `--in` of a command mean together; undefined when neither is given. */
export function momentOf(at: string | undefined, after: string | undefined, names: [string, string]) {
  if (at !== undefined && after !== undefined)
    throw usageError(`${names[0]} and ${names[1]} exclude each other`);
  if (after !== undefined) return new Date(Date.now() + parseDuration(after, names[1]));
  return at === undefined ? undefined : parseTime(at, names[0], new Date());
}

/** How long, in its largest one or two units: `8s`, `3m12s`, `2h5m`, `4d3h`. */
export function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "m"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first === -1) return "0s";
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount}${unit}`)
    .join("");
}

export function age(time: Timestamp | undefined, nowMs = Date.now()): string {
  return time === undefined ? "" : span(nowMs - timestampMs(time));
}

/** Date and time of this place, to the second. */
export function localTime(time: Timestamp | undefined): string {
  if (time === undefined) return "";
  const date = new Date(timestampMs(time));
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 19)
    .replace("T", " ");
}
