import type { Paint } from "./paint.js";
import { clean } from "./text.js";

/** `name  value` lines; a value of several lines is indented, one that is empty is left out. Values may be painted. */
export function fieldLines(paint: Paint, fields: readonly (readonly [string, string])[]): string[] {
  const shown = fields.filter(([, value]) => value !== "");
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.flatMap(([name, value]) =>
    value
      .split("\n")
      .map((line, i) => `${i === 0 ? paint("dim", name.padEnd(width)) : " ".repeat(width)}  ${line}`),
  );
}

/** Text of others as a value. */
export function said(text: string): string {
  return clean(text).trimEnd();
}
