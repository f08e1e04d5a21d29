import { invalidField } from "../fault.js";
import type { Limits } from "./limits.js";

/** A message says something: in words, or by the tasks that it brings. */
export function checkText(field: string, text: string, tasks: readonly unknown[], limits: Limits): void {
  if (text.trim() === "" && tasks.length === 0) throw invalidField(field, "required", "FIELD_REQUIRED");
  if (Buffer.byteLength(text) > limits.descriptionBytes) {
    throw invalidField(field, `longer than ${limits.descriptionBytes} bytes`, "FIELD_TOO_LONG");
  }
}
