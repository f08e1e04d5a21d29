import { nextRunMs } from "../../domain/catalog/kinds/cron.js";
import { schedule } from "../../domain/catalog/kinds/schedule.js";
import type { ScheduleRunRow } from "../../storage/automation-rows.js";
import type { Store } from "../../storage/store.js";
import { resourceNotFound } from "../catalog/put.js";
import { documentOf } from "../catalog/values.js";

export interface ScheduleStatus {
  /** Undefined before the first time. */
  readonly last: ScheduleRunRow | undefined;
  /** Undefined while it is paused. */
  readonly nextDueAtMs: number | undefined;
}

export async function scheduleStatus(
  store: Store,
  tenant: string,
  name: string,
  nowMs: number,
): Promise<ScheduleStatus> {
  const ref = { tenant, kind: schedule.name, name };
  const stored = await store.resource(ref);
  if (stored === undefined || stored.deleted) throw resourceNotFound(ref);
  const { paused, cron, timeZone } = documentOf(schedule, stored);
  const last = await store.scheduleRun(tenant, name);
  return {
    last,
    nextDueAtMs: paused ? undefined : nextRunMs(cron, timeZone, Math.max(nowMs, last?.dueAtMs ?? 0)),
  };
}
