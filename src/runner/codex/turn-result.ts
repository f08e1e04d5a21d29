import { type JsonRecord, record, text } from "../acp/json.js";
import type { TurnResult } from "../runner.js";
import { fatal, passing, type TurnError } from "../runner-error.js";

/** How a turn ended, from `turn/completed`. */
export function resultOf(turn: JsonRecord): TurnResult {
  switch (turn.status) {
    case "completed":
      return { outcome: "completed" };
    case "interrupted":
      return { outcome: "cancelled" };
    case "failed":
      return failure(record(turn.error));
    default: {
      const message = `codex ended the turn with an unknown status: ${JSON.stringify(turn.status)}`;
      return { outcome: "failed", error: passing("agent_protocol", message) };
    }
  }
}

function failure(error: JsonRecord): TurnResult {
  const message = text(error.message) || "codex reported a failure without a word";
  const info = error.codexErrorInfo;
  if (info === "contextWindowExceeded") {
    const limit = { kind: "length_limit", message, retryable: false, fatal: false };
    return { outcome: "limit", error: limit };
  }
  return { outcome: "failed", error: modelError(info, message) };
}

const REFUSED = new Set<unknown>([
  "badRequest",
  "modelNotFound",
  "cyberPolicy",
  "misalignmentPolicyViolation",
]);

/** What trying again cannot mend is fatal: a wrong key, a request that the model's server will not have. */
function modelError(info: unknown, message: string): TurnError {
  const status = httpStatus(info);
  if (info === "unauthorized" || status === 401 || status === 403) return fatal("backend_auth", message);
  if (REFUSED.has(info) || status === 400 || status === 404) return fatal("backend_refused", message);
  return passing("backend_unavailable", message);
}

/** Some kinds are objects of one member that may carry it. */
function httpStatus(info: unknown): unknown {
  return Object.values(record(info)).map((detail) => record(detail).httpStatusCode)[0];
}
