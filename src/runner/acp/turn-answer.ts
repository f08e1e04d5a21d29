import type { RequestError } from "@agentclientprotocol/sdk/unstable";
import type { ExitInfo, TurnResult, UsageDelta } from "../runner.js";
import { type ErrorKind, fatal, passing, type TurnError } from "../runner-error.js";
import { type JsonRecord, number, record, text } from "./json.js";

const AUTH_REQUIRED = -32000;

/** What the program answered to a prompt. `emptyUsageIsFailure`: see `AgentProgram`. */
export function resultOf(answer: unknown, emptyUsageIsFailure: boolean): TurnResult {
  const { stopReason, usage: raw, _meta } = record(answer);
  const usage = raw === undefined || raw === null ? {} : { usage: turnUsage(record(raw)) };
  const failure = record(record(record(record(_meta).jetbrains).air).sessionFailure);
  if (Object.keys(failure).length > 0) return { outcome: "failed", error: sessionFailure(failure), ...usage };
  switch (stopReason) {
    case "end_turn":
      if (emptyUsageIsFailure && raw === null) {
        const message = "the model was not reached: the turn ended without any usage";
        return { outcome: "failed", error: passing("backend_unavailable", message) };
      }
      return { outcome: "completed", ...usage };
    case "cancelled":
      return { outcome: "cancelled", ...usage };
    case "refusal":
      return { outcome: "refused", error: ended("refused", "the model refused to go on"), ...usage };
    case "max_tokens":
      return {
        outcome: "limit",
        error: ended("length_limit", "the model reached its length limit"),
        ...usage,
      };
    case "max_turn_requests":
      return {
        outcome: "limit",
        error: ended("length_limit", "the agent reached its limit of steps"),
        ...usage,
      };
    default: {
      const message = `the agent program ended the turn with an unknown reason: ${JSON.stringify(stopReason)}`;
      return { outcome: "failed", error: passing("agent_protocol", message), ...usage };
    }
  }
}

/** The turn ended by itself, though not well: neither a failure to repeat nor the end of the agent. */
function ended(kind: ErrorKind, message: string): TurnError {
  return { kind, message, retryable: false, fatal: false };
}

/** Per turn, not cumulative. What was written to a cache was read as input; thoughts were written as output. */
export function turnUsage(usage: JsonRecord): UsageDelta {
  const count = (name: string) => Math.max(0, Math.round(number(usage[name])));
  const [input, output, cached] = [count("inputTokens"), count("outputTokens"), count("cachedReadTokens")];
  const [written, thought] = [count("cachedWriteTokens"), count("thoughtTokens")];
  // Some count thoughts within the output, some beside it: the total tells.
  const beside = count("totalTokens") >= input + output + cached + written + thought ? thought : 0;
  return { inputTokens: input + written, cachedInputTokens: cached, outputTokens: output + beside, cost: 0 };
}

/** An error that the program answered with. `data.fatal` is our own agent's word for it. */
export function rpcError(error: RequestError): TurnError {
  const data = record(error.data);
  const kind = text(data.errorKind);
  const message = withDetails(error.message, text(data.details));
  if (data.fatal === true) return { ...fatal("agent_error", message), kind: kind || "agent_error" };
  if (error.code === AUTH_REQUIRED || kind.startsWith("authentication"))
    return fatal("backend_auth", message);
  if (kind === "billing_error" || kind === "invalid_request") return fatal("backend_refused", message);
  if (kind === "server_error" || kind === "rate_limit" || kind === "overloaded") {
    return passing("backend_unavailable", message);
  }
  return passing("agent_error", message);
}

function withDetails(message: string, details: string): string {
  return details === "" || message.includes(details) ? message : `${message}: ${details}`;
}

function sessionFailure(failure: JsonRecord): TurnError {
  const message = text(failure.title) || "the agent program reported a failure of its session";
  return /auth/i.test(text(failure.category))
    ? fatal("backend_auth", message)
    : passing("backend_unavailable", message);
}

/** Why a turn or a start was cut off by the end of the process. */
export function exitError(exit: ExitInfo): TurnError {
  switch (exit.cause) {
    case "killed":
      return passing("agent_killed", exit.message);
    case "closed":
      return passing("agent_closed", exit.message);
    case "output_limit":
      return passing("output_limit", exit.message);
    default:
      return passing("agent_exited", exit.message);
  }
}
