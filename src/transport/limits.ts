import { Fault, type FieldViolation, resourceExhausted } from "../domain/fault.js";

/** Largest request message, in every protocol; compressed ones are measured decompressed. */
export const MAX_REQUEST_BYTES = 4 * 1024 * 1024;

export function requestTooLarge(): Fault {
  return resourceExhausted("REQUEST_TOO_LARGE", "request is larger than 4 MiB");
}

/** In bytes of UTF-8, each. gRPC sends errors as headers, and its clients give up at 8 KiB of them. */
const MAX_TEXT_BYTES = 1024;
const MAX_VIOLATIONS_BYTES = 2048;

/**
 * The fault as it may be sent. Texts quote what the caller sent, which can be megabytes, or half a surrogate
 * pair, on which Connect's encodeURIComponent throws.
 */
export function sendable(fault: Fault): Fault {
  const message = cut(fault.message, MAX_TEXT_BYTES);
  const violations = fault.details.violations && cutViolations(fault.details.violations);
  if (message === fault.message && violations === fault.details.violations) return fault;
  return new Fault(fault.code, fault.reason, message, {
    ...fault.details,
    ...(violations && { violations }),
  });
}

/** As many as fit, each cut to fit; the same list if nothing had to be done. */
function cutViolations(violations: readonly FieldViolation[]): readonly FieldViolation[] {
  const kept: FieldViolation[] = [];
  let left = MAX_VIOLATIONS_BYTES;
  for (const violation of violations) {
    const field = cut(violation.field, left / 2);
    const description = cut(violation.description, left / 2);
    const same = field === violation.field && description === violation.description;
    kept.push(same ? violation : { field, description });
    left -= Buffer.byteLength(field) + Buffer.byteLength(description);
    if (left < 64) break;
  }
  const same = kept.length === violations.length && kept.every((violation, i) => violation === violations[i]);
  return same ? violations : kept;
}

/** Well-formed text of at most `maxBytes`, with an ellipsis where something is missing. */
function cut(text: string, maxBytes: number): string {
  // A UTF-16 unit is at most three bytes; the second test turns away half surrogate pairs.
  if (text.length * 3 <= maxBytes && !LONE_SURROGATE.test(text)) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return bytes.toString();
  return `${bytes.toString("utf8", 0, Math.max(0, maxBytes - 3)).replace(/\uFFFD$/, "")}…`;
}

const LONE_SURROGATE = /\p{Surrogate}/u;
