/** Every code that the command line exits with. Scripts branch on them: a number never changes its meaning. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  denied: 4,
  conflict: 5,
  unreachable: 6,
  differs: 7,
  agentFailed: 10,
  agentCanceled: 11,
  needsInput: 12,
  timeout: 13,
  cleared: 14,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What each code says, for the page of the manual. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: "done; of `wait` and `--follow`: the agent completed, or the turn of the message ended",
  failed: "something else went wrong",
  usage: "the command, its options or the request were wrong",
  notFound: "there is no such agent, message, task or document",
  denied: "the key is missing, unknown or not allowed to do this",
  conflict: "not as things stand: it exists already, has changed meanwhile, or a limit is reached",
  unreachable: "no server answered",
  differs: "`diff` found differences",
  agentFailed: "of `wait` and `--follow`: the agent failed",
  agentCanceled: "of `wait` and `--follow`: the agent was killed",
  needsInput: "of `wait` and `--follow`: the agent rests and wants its caller",
  timeout: "of `wait --timeout`: nothing happened for so long",
  cleared: "of `wait --message` and `send --wait`: the message was cleared or removed",
  interrupted: "Ctrl-C; the agent goes on",
};

/** A mistake or refusal that is shown as it is, with what to do next. */
export class CliError extends Error {
  override readonly name = "CliError";

  constructor(
    message: string,
    readonly exitCode: ExitCode,
    readonly hint = "",
  ) {
    super(message);
  }
}

export function usageError(message: string, hint = ""): CliError {
  return new CliError(message, EXIT.usage, hint);
}
