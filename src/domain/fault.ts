import { Code } from "../../gen/google/rpc/code_pb.js";

/** A field of the request (dotted, as in JSON) and what was wrong with it. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** A condition of the stored state that did not hold, and the thing it was asked of. */
export interface PreconditionViolation {
  readonly type: string;
  readonly subject: string;
  readonly description: string;
}

/** What a fault may carry beside its code, reason and text. */
export interface FaultDetails {
  readonly metadata?: Readonly<Record<string, string>>;
  readonly violations?: readonly FieldViolation[];
  readonly preconditions?: readonly PreconditionViolation[];
  readonly retryAfterMs?: number;
}

/**
 * The one error that callers are meant to see. `reason` is stable and upper-snake: programs branch on
 * it, people read `message`. Whatever else is thrown is a bug: it is logged whole and shown as INTERNAL.
 */
export class Fault extends Error {
  override readonly name = "Fault";

  constructor(
    readonly code: Code,
    readonly reason: string,
    message: string,
    readonly details: FaultDetails = {},
  ) {
    super(message);
  }
}

/** INVALID_ARGUMENT that names one field; the text of the fault is the sentence about that field. */
export function invalidField(field: string, description: string, reason = "INVALID_FIELD"): Fault {
  return new Fault(Code.INVALID_ARGUMENT, reason, `${field}: ${description}`, {
    violations: [{ field, description }],
  });
}

/** INVALID_ARGUMENT for several fields at once, so that a person mends them in one go. */
export function invalidFields(violations: readonly FieldViolation[]): Fault {
  const text = violations.map((v) => `${v.field}: ${v.description}`).join("; ");
  return new Fault(Code.INVALID_ARGUMENT, "INVALID_FIELD", text, { violations });
}

/** INVALID_ARGUMENT about the request as a whole: not JSON, wrong media type, bad bytes. */
export function malformed(message: string, reason = "MALFORMED_REQUEST"): Fault {
  return new Fault(Code.INVALID_ARGUMENT, reason, message);
}

export function notFound(reason: string, message: string, metadata: Record<string, string> = {}): Fault {
  return new Fault(Code.NOT_FOUND, reason, message, { metadata });
}

export function permissionDenied(message: string, metadata: Record<string, string> = {}): Fault {
  return new Fault(Code.PERMISSION_DENIED, "PERMISSION_DENIED", message, { metadata });
}

/** One text for unknown, expired and revoked keys: the difference would help only an attacker. */
export function unauthenticated(): Fault {
  return new Fault(
    Code.UNAUTHENTICATED,
    "INVALID_KEY",
    "missing or invalid API key: send the header 'Authorization: Bearer <API_KEY>'",
  );
}

export function failedPrecondition(reason: string, subject: string, description: string): Fault {
  return new Fault(Code.FAILED_PRECONDITION, reason, description, {
    preconditions: [{ type: reason, subject, description }],
  });
}

export function resourceExhausted(reason: string, message: string, retryAfterMs?: number): Fault {
  return new Fault(
    Code.RESOURCE_EXHAUSTED,
    reason,
    message,
    retryAfterMs === undefined ? {} : { retryAfterMs },
  );
}

export function unavailable(reason: string, message: string, retryAfterMs = 1000): Fault {
  return new Fault(Code.UNAVAILABLE, reason, message, { retryAfterMs });
}

export function internal(): Fault {
  return new Fault(Code.INTERNAL, "INTERNAL", "internal error");
}
