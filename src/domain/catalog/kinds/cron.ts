import { Cron } from "croner";

const NICKNAMES = ["@hourly", "@daily", "@weekly", "@monthly", "@yearly"];
const FIELDS = /^[0-9*][0-9A-Za-z*,/#-]*(?: +[0-9A-Za-z*?,/#-]+){4}$/;

/** A leap year begins: whatever comes at all comes within a few years from here. */
const SOME_DAY = new Date("2024-01-01T00:00:00Z");

/** What is wrong with the times of a schedule. */
export function cronViolation(cron: string): string | undefined {
  if (cron === "") return "required: minute hour day-of-month month day-of-week, such as '0 2 * * 1-5'";
  // The library takes seconds, years and single dates as well, which no crontab does.
  if (!NICKNAMES.includes(cron) && !FIELDS.test(cron)) {
    return `must be five fields (minute, hour, day of month, month, day of week) or one of ${NICKNAMES.join(", ")}`;
  }
  try {
    return openCron(cron, "UTC").nextRun(SOME_DAY) ? undefined : "names a time that never comes";
  } catch (error) {
    return (error as Error).message.replace(/^CronPattern: /, "");
  }
}

export function timeZoneViolation(timeZone: string): string | undefined {
  try {
    if (/^[A-Za-z]/.test(timeZone)) new Intl.DateTimeFormat("en", { timeZone });
    else if (timeZone !== "") return "must be a name such as Europe/Berlin; empty for UTC";
    return undefined;
  } catch {
    return "is no time zone of the IANA database; use a name such as Europe/Berlin, or leave it empty for UTC";
  }
}

/** First time of the schedule after a moment; undefined: none. */
export function nextRunMs(cron: string, timeZone: string, afterMs: number): number | undefined {
  return openCron(cron, timeZone || "UTC")
    .nextRun(new Date(afterMs))
    ?.getTime();
}

/** Paused: nothing of the library's own timers is used. */
function openCron(cron: string, timezone: string): Cron {
  return new Cron(cron, { paused: true, mode: "5-part", timezone });
}
