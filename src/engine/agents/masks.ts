import { clone } from "@bufbuild/protobuf";
import { type EventPayload, EventPayloadSchema } from "../../../gen/retinue/v1/event_pb.js";

/** Values of secrets that agents were given: whatever is stored or told of those agents shows `***` instead. */
export interface Masks {
  /** From now on, until the server ends; earlier values stay masked. */
  add(uid: string, secrets: readonly string[]): void;
  text(uid: string, text: string): string;
  /** The same in every text within; the payload itself where there is nothing to mask. */
  payload(uid: string, payload: EventPayload): EventPayload;
  /** Length of the longest secret: as much of a stream's end may be the beginning of one. */
  longest(uid: string): number;
}

export function createMasks(): Masks {
  const known = new Map<string, readonly string[]>();
  const masked = (secrets: readonly string[], text: string) =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, "***"), text);

  function maskWithin(secrets: readonly string[], value: unknown): void {
    if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return;
    const parts = value as Record<string, unknown>;
    for (const [name, part] of Object.entries(parts)) {
      if (typeof part !== "string") maskWithin(secrets, part);
      else if (secrets.some((secret) => part.includes(secret))) parts[name] = masked(secrets, part);
    }
  }

  return {
    add(uid, secrets) {
      const all = new Set([...(known.get(uid) ?? []), ...secrets.filter((secret) => secret !== "")]);
      // A longer one first: it may hold a shorter one.
      if (all.size > 0)
        known.set(
          uid,
          [...all].sort((a, b) => b.length - a.length),
        );
    },
    text: (uid, text) => masked(known.get(uid) ?? [], text),
    payload(uid, payload) {
      const secrets = known.get(uid);
      if (secrets === undefined) return payload;
      const masked = clone(EventPayloadSchema, payload);
      maskWithin(secrets, masked.kind.value);
      return masked;
    },
    longest: (uid) => known.get(uid)?.[0]?.length ?? 0,
  };
}
