import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { CliError, EXIT, type ExitCode } from "./exit.js";

const CODES: Partial<Record<Code, ExitCode>> = {
  [Code.InvalidArgument]: EXIT.usage,
  [Code.NotFound]: EXIT.notFound,
  [Code.PermissionDenied]: EXIT.denied,
  [Code.Unauthenticated]: EXIT.denied,
  [Code.AlreadyExists]: EXIT.conflict,
  [Code.FailedPrecondition]: EXIT.conflict,
  [Code.Aborted]: EXIT.conflict,
  [Code.ResourceExhausted]: EXIT.conflict,
  [Code.Unavailable]: EXIT.unreachable,
};

/** What to do next, by the stable reason that the server gave. */
const HINTS: Readonly<Record<string, string>> = {
  INVALID_KEY: "log in with a key that works: retinue login URL",
  PERMISSION_DENIED: "retinue whoami shows what your key may do",
  AGENT_NOT_FOUND: "retinue ps --all lists your agents; --account and --workspace reach others",
  AGENT_TERMINAL: "it has ended: retinue logs shows how, retinue spawn starts a new one under the same name",
  AGENT_STOPPING: "it is being killed: retinue wait waits until it has ended",
  AGENT_EXISTS: "talk to it with retinue send, or choose another name",
  AGENT_NOT_INSTALLED: "retinue get model lists models; script-a needs nothing installed",
  PARENT_NOT_FOUND: "spawn its parent first, or leave the path out for a root agent",
  WORKSPACE_AMBIGUOUS: "say which one with --workspace",
  WORKSPACE_NOT_FOUND: "retinue get workspace lists the workspaces",
  PERSONA_NOT_FOUND: "retinue get persona lists the personas",
  MODEL_UNKNOWN: "retinue get model lists the models",
  NO_TURN_RUNNING: "there is nothing to stop: retinue status shows where the agent stands",
  RUN_ID_STALE: "that run is over: retinue status shows the current one",
  RESOURCE_NOT_FOUND: "retinue get KIND lists what there is; retinue apply -f FILE creates it",
  GENERATION_MISMATCH: "somebody changed it meanwhile: read it again, then repeat your change",
  JUSTIFICATION_REQUIRED: "say why with --justification",
  BUDGET_SPENT: "raise the budget: POST /v1/agent/update",
  QUEUE_FULL: "wait until the agent has worked some off, or retinue queue clear",
  RATE_LIMITED: "wait a second, then try again",
};

/** An error of any sort, as a person is told about it. */
export function explain(error: unknown, serverUrl = "the server"): CliError {
  if (error instanceof CliError) return error;
  if (!(error instanceof ConnectError)) {
    return new CliError(error instanceof Error ? error.message : String(error), EXIT.failed);
  }
  const reason = reasonOf(error);
  if (reason === undefined && isNetworkCode(error.code)) {
    return new CliError(
      `no Retinue server answers at ${serverUrl} (${networkCause(error)})`,
      EXIT.unreachable,
      "start one with retinue serve, or say where it is: retinue login URL, or RETINUE_URL",
    );
  }
  return new CliError(error.rawMessage, CODES[error.code] ?? EXIT.failed, HINTS[reason ?? ""]);
}

/** The stable reason that our servers give with every error; undefined when something else answered, or nothing. */
export function reasonOf(error: ConnectError): string | undefined {
  return error.findDetails(ErrorInfoSchema)[0]?.reason;
}

/** Whether the same call may succeed later: the connection broke, or the server is on its way down or up. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  return error.code === Code.Unavailable || (reasonOf(error) === undefined && isNetworkCode(error.code));
}

/** What connect-node makes of broken connections, and of answers that are not ours. */
function isNetworkCode(code: Code): boolean {
  return [Code.Unavailable, Code.Aborted, Code.Internal, Code.Unknown].includes(code);
}

function networkCause(error: ConnectError): string {
  const cause = error.cause as (Error & { code?: string }) | undefined;
  return cause?.code ?? error.rawMessage;
}
