import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { FieldViolation } from "../../fault.js";
import { nameViolation, quoted } from "../../name.js";

/** Rules that fields of several kinds share. */

export const DISPLAY_NAME_MAX = 200;
export const DESCRIPTION_MAX = 4096;
/** Of accounts, which other systems name as they like. */
export const ACCOUNT_MAX = 200;

/** Drops the checks that found nothing. */
export function found(...checks: readonly (FieldViolation | undefined)[]): FieldViolation[] {
  return checks.filter((check) => check !== undefined);
}

/** A sentence about a field, or nothing where there is none to say. */
export function violation(field: string, description: string | undefined): FieldViolation | undefined {
  return description === undefined ? undefined : { field, description };
}

/** The name of another document, where there is one. */
export function optionalNameViolation(field: string, name: string): FieldViolation | undefined {
  return name === "" ? undefined : nameViolation(field, name);
}

/** Text of any number of lines. */
export function textViolation(field: string, text: string, max: number): FieldViolation | undefined {
  if (text.length <= max) return undefined;
  return { field, description: `at most ${max} characters, these are ${text.length}` };
}

/** Text that is shown in one line: in lists, logs and terminals. */
export function lineViolation(field: string, text: string, max: number): FieldViolation | undefined {
  if (/\p{Cc}/u.test(text)) return { field, description: "must be one line without control characters" };
  return textViolation(field, text, max);
}

/** A word that other systems made up: nothing in it that would split it or hide it. */
export function wordViolation(field: string, text: string, max: number): FieldViolation | undefined {
  if (/[\s\p{Cc}]/u.test(text))
    return { field, description: "must not contain spaces or control characters" };
  return textViolation(field, text, max);
}

export function bytesViolation(field: string, text: string, maxBytes: number): FieldViolation | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return undefined;
  return { field, description: `at most ${maxBytes / 1024} KiB, these are ${bytes} bytes` };
}

/** The fields that nearly every kind has. */
export function describedViolations(document: {
  displayName: string;
  description?: string;
}): FieldViolation[] {
  return found(
    lineViolation("displayName", document.displayName, DISPLAY_NAME_MAX),
    textViolation("description", document.description ?? "", DESCRIPTION_MAX),
  );
}

/** Names each value that stands in the list for a second time. */
export function repeatViolations(
  values: readonly string[],
  fieldAt: (index: number) => string,
): FieldViolation[] {
  const first = new Map<string, number>();
  const violations: FieldViolation[] = [];
  for (const [index, value] of values.entries()) {
    if (value === "") continue; // is missing, and said to be
    const before = first.get(value);
    if (before === undefined) first.set(value, index);
    else
      violations.push({
        field: fieldAt(index),
        description: `${quoted(value)} is already at ${fieldAt(before)}`,
      });
  }
  return violations;
}

/** Years 1 to 9999, as RFC 3339 has them: what is beyond could be stored but never shown. */
export function expiryViolation({
  expiresAt,
}: {
  readonly expiresAt?: Timestamp | undefined;
}): FieldViolation | undefined {
  if (expiresAt === undefined) return undefined;
  const { seconds, nanos } = expiresAt;
  const inRange =
    seconds >= -62_135_596_800n && seconds <= 253_402_300_799n && nanos >= 0 && nanos <= 999_999_999;
  return inRange ? undefined : { field: "expiresAt", description: "must be a time from year 1 to year 9999" };
}
