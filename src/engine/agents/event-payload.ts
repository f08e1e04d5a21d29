import { clone, toBinary } from "@bufbuild/protobuf";
import { type EventPayload, EventPayloadSchema } from "../../../gen/retinue/v1/event_pb.js";

/** Largest payload of an event, encoded. */
export const PAYLOAD_MAX_BYTES = 64 * 1024;
const CUT_CHARACTERS = 12_000;

/** The payload, or one that is cut to size and says so: a log of whole files would serve nobody. */
export function cutPayload(payload: EventPayload): EventPayload {
  if (!mayBeLarge(payload.kind.value) || toBinary(EventPayloadSchema, payload).length <= PAYLOAD_MAX_BYTES)
    return payload;
  const cut = clone(EventPayloadSchema, payload);
  cutTexts(cut.kind.value);
  cut.truncated = true;
  return cut;
}

/** Encoding twice is dear, and nearly all payloads are small: a look at their texts tells. */
function mayBeLarge(value: unknown, budget = { left: PAYLOAD_MAX_BYTES / 4 }): boolean {
  if (typeof value === "string") budget.left -= value.length;
  else if (value !== null && typeof value === "object") {
    for (const part of Object.values(value)) if (mayBeLarge(part, budget)) return true;
    budget.left -= 1;
  }
  return budget.left < 0;
}

function cutTexts(value: unknown): void {
  if (value === null || typeof value !== "object") return;
  const parts = value as Record<string, unknown>;
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part === "string" && part.length > CUT_CHARACTERS)
      parts[name] = `${part.slice(0, CUT_CHARACTERS)}…`;
    else if (Array.isArray(part) && part.length > 200) parts[name] = part.slice(0, 200);
    cutTexts(parts[name]);
  }
}
