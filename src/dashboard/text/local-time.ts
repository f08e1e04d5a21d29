const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `10m` → the moment ten minutes from now. */
export function parseDelay(text: string): Date {
  const [, amount, unit = ""] = /^(\d+)([smhd])$/.exec(text) ?? [];
  return new Date(Date.now() + Number(amount) * (UNITS[unit] ?? Number.NaN));
}

/** As an input of type datetime-local has it: local time, to the second. */
export function localInput(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}
