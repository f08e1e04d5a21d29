import type { Logger } from "pino";
import { OverlapPolicy, type Schedule } from "../../../gen/retinue/v1/catalog_pb.js";
import { dueTimes } from "../../domain/automation/due.js";
import { nextRunMs } from "../../domain/catalog/kinds/cron.js";
import { schedule } from "../../domain/catalog/kinds/schedule.js";
import { Fault } from "../../domain/fault.js";
import type { ScheduleRunRow } from "../../storage/automation-rows.js";
import type { StoredResource } from "../../storage/store.js";
import { everyDocument } from "../catalog/every-document.js";
import { documentOf } from "../catalog/values.js";
import type { Clock } from "../clock.js";
import { type FireOptions, fire, isOver } from "./fire.js";

/** Does what schedules say, when they say it. */
export interface Schedules {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** A schedule was written or deleted. */
  changed(stored: StoredResource): void;
}

export interface SchedulesOptions extends FireOptions {
  readonly clock: Clock;
  readonly log: Logger;
}

interface Entry {
  readonly stored: StoredResource;
  readonly document: Schedule;
  /** When to look again. */
  wakeAtMs: number;
  /** A time has come while the one before was not over, and waits. */
  queued: boolean;
}

/** Longer than this no timer runs: the clock may be set while it does. */
const LOOK_EVERY_MS = 5000;
const LOOK_AGAIN_MS = 2000;

export function createSchedules(options: SchedulesOptions): Schedules {
  const { store, clock, log } = options;
  const entries = new Map<string, Entry>();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let stopped = false;

  function take(stored: StoredResource): void {
    const key = `${stored.tenant}\n${stored.name}`;
    entries.delete(key);
    if (stored.deleted) return;
    const document = documentOf(schedule, stored);
    if (!document.paused) entries.set(key, { stored, document, wakeAtMs: 0, queued: false });
  }

  function arm(): void {
    clearTimeout(timer);
    if (stopped || entries.size === 0) return;
    const next = Math.min(...[...entries.values()].map(({ wakeAtMs }) => wakeAtMs));
    timer = setTimeout(look, Math.min(Math.max(0, next - clock.nowMs()), LOOK_EVERY_MS));
  }

  function look(): void {
    looking ??= lookAtAll().finally(() => {
      looking = undefined;
      arm();
    });
  }

  async function lookAtAll(): Promise<void> {
    for (const entry of [...entries.values()]) {
      if (stopped) return;
      try {
        entry.wakeAtMs = await lookAt(entry);
      } catch (err) {
        log.error({ err, schedule: entry.stored.name }, "a schedule could not be looked at");
        entry.wakeAtMs = clock.nowMs() + LOOK_EVERY_MS;
      }
    }
  }

  /** Does what is due; returns when to look again. */
  async function lookAt(entry: Entry): Promise<number> {
    const { tenant, name, updatedAtMs } = entry.stored;
    const { cron, timeZone, overlapPolicy, missedRunPolicy } = entry.document;
    const last = (await store.scheduleRun(tenant, name)) ?? { ...NEVER, tenant, name };
    // Times before the last write are none of this schedule's.
    const afterMs = Math.max(last.dueAtMs, updatedAtMs);
    const nowMs = clock.nowMs();
    const due = dueTimes((after) => nextRunMs(cron, timeZone, after), afterMs, nowMs, missedRunPolicy);
    if (due.passed === undefined) return due.next ?? Number.POSITIVE_INFINITY;
    // However many have passed while one waited, they are one.
    const run = entry.queued ? [due.passed] : due.run;
    let done = last;
    for (const atMs of run) {
      if (overlapPolicy !== OverlapPolicy.ALLOW && !(await isOver(store, done))) {
        entry.queued = overlapPolicy === OverlapPolicy.QUEUE;
        if (entry.queued) return nowMs + LOOK_AGAIN_MS;
        continue;
      }
      entry.queued = false;
      done = await perform(entry, atMs);
    }
    await record({ ...done, dueAtMs: due.passed });
    return due.next ?? Number.POSITIVE_INFINITY;
  }

  async function perform({ stored, document }: Entry, atMs: number): Promise<ScheduleRunRow> {
    const { tenant, name } = stored;
    const run = { tenant, name, dueAtMs: atMs };
    try {
      return await record({ ...run, ...(await fire(options, { tenant, name, document, atMs })), error: "" });
    } catch (error) {
      // A refusal stands; anything else is trouble of ours, and the time is not over.
      if (!(error instanceof Fault)) throw error;
      log.warn({ tenant, schedule: name, reason: error.message }, "a schedule could not do its work");
      return record({ ...run, uid: "", messageId: "", error: error.message });
    }
  }

  async function record(row: ScheduleRunRow): Promise<ScheduleRunRow> {
    await store.commit([{ type: "scheduleRun", row }]);
    return row;
  }

  return {
    async start() {
      await everyDocument(store, schedule.name, async (stored) => take(stored));
      look();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await looking;
    },
    changed(stored) {
      take(stored);
      arm();
    },
  };
}

const NEVER = { dueAtMs: 0, uid: "", messageId: "", error: "" };
