/** What went wrong beneath a turn. */
export interface TurnError {
  /** Stable and lower-snake; see `ErrorKind` for the runner's own. */
  readonly kind: string;
  /** One sentence for people, with the program's last words where they help. */
  readonly message: string;
  /** Trying again may help. */
  readonly retryable: boolean;
  /** Trying again cannot help: the agent cannot go on. */
  readonly fatal: boolean;
}

/** The kinds that the runner makes itself; a program may name others in `data.errorKind` of its error. */
export type ErrorKind =
  | "agent_not_installed"
  | "agent_folder"
  | "agent_exited"
  | "agent_killed"
  | "agent_closed"
  | "agent_error"
  | "agent_cancelled"
  | "agent_protocol"
  | "output_limit"
  | "start_aborted"
  | "start_timeout"
  | "workspace_setup"
  | "isolation_unavailable"
  | "setting_refused"
  | "backend_auth"
  | "backend_refused"
  | "backend_unavailable"
  | "refused"
  | "length_limit";

/** A session that could not be opened or set up. */
export class RunnerError extends Error implements TurnError {
  override readonly name = "RunnerError";
  readonly kind: string;
  readonly retryable: boolean;
  readonly fatal: boolean;

  constructor(error: TurnError) {
    super(error.message);
    this.kind = error.kind;
    this.retryable = error.retryable;
    this.fatal = error.fatal;
  }
}

/** Worth another try. */
export function passing(kind: ErrorKind, message: string): TurnError {
  return { kind, message, retryable: true, fatal: false };
}

/** Not to be mended by trying again. */
export function fatal(kind: ErrorKind, message: string): TurnError {
  return { kind, message, retryable: false, fatal: true };
}

/** An Error's message is lost to whoever copies or prints its fields. */
export function plainError({ kind, message, retryable, fatal }: RunnerError): TurnError {
  return { kind, message, retryable, fatal };
}
