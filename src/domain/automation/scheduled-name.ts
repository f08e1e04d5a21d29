const NAME_MAX = 63;

/** `nightly` at two in the morning → `nightly-20260101t0200z`: unique per minute, and a name like any other. */
export function scheduledName(schedule: string, atMs: number): string {
  const minute = new Date(atMs).toISOString().replace(/[-:]/g, "").slice(0, 13).toLowerCase();
  const room = NAME_MAX - minute.length - 2;
  return `${schedule.slice(0, room).replace(/[._-]+$/, "")}-${minute}z`;
}
