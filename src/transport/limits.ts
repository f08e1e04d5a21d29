import { Fault, type FieldViolation, resourceExhausted } from "../domain/fault.js";

/** Largest request message, in every protocol; compressed ones are measured decompressed. */
export const MAX_REQUEST_BYTES = 4 * 1024 * 1024;

export function requestTooLarge(): Fault {
  return resourceExhausted("REQUEST_TOO_LARGE", "request is larger than 4 MiB");
}

/**
 * The fault as it may be sent, the same in every protocol. Texts quote what the caller sent: that can be half a
 * surrogate pair, on which Connect's encodeURIComponent throws, and it can be long, while gRPC sends errors as
 * headers and some of its clients give up at 8 KiB of them.
 */
export function sendable(fault: Fault): Fault {
  // The text is sent twice: percent-encoded, and with the violations in base64.
  const message = fitted(fault.message, isAscii(fault.message) ? 2048 : 1024);
  const before = fault.details.violations ?? [];
  const violations = fittedViolations(before, 2048);
  if (message === fault.message && violations === before) return fault;
  const details = before.length > 0 ? { ...fault.details, violations } : fault.details;
  return new Fault(fault.code, fault.reason, message, details);
}

/** As many as fit, each cut to fit; the same list if nothing had to be done. */
function fittedViolations(
  violations: readonly FieldViolation[],
  maxBytes: number,
): readonly FieldViolation[] {
  const kept: FieldViolation[] = [];
  let left = maxBytes;
  for (const violation of violations) {
    const field = fitted(violation.field, left / 2);
    const description = fitted(violation.description, left / 2);
    const same = field === violation.field && description === violation.description;
    kept.push(same ? violation : { field, description });
    left -= Buffer.byteLength(field) + Buffer.byteLength(description);
    if (left < 64) break;
  }
  const same = kept.length === violations.length && kept.every((violation, i) => violation === violations[i]);
  return same ? violations : kept;
}

/** Well-formed text of at most so many bytes of UTF-8, with an ellipsis where something is missing. */
function fitted(text: string, maxBytes: number): string {
  // A UTF-16 unit is at most three bytes.
  if (text.length * 3 <= maxBytes && !LONE_SURROGATE.test(text)) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return bytes.toString();
  return `${bytes.toString("utf8", 0, Math.max(0, maxBytes - 3)).replace(/\uFFFD$/, "")}…`;
}

function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

const LONE_SURROGATE = /\p{Surrogate}/u;
