/** What a program sends is whatever it likes: each value is looked at before it is used. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function record(value: unknown): JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonRecord) : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** 0 for what is no finite number. */
export function number(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
