/**
 * Where the engine goes from a commit to an effect, or from an effect to its commit: a server that dies at any of
 * these goes on by itself at the next start. Tests walk the whole list.
 */
export const FAILPOINTS = [
  /** At a start: before what an earlier server left is ended, after it, and after its turns were given up as lost. */
  "before-sweep",
  "after-sweep",
  "after-runner-lost",
  /** A change of an agent is committed; nobody has been told. */
  "after-commit",
  "after-slot-granted",
  /** The start of a process: its token is stored, it runs, its session is stored. */
  "after-process-token-stored",
  "after-process-started",
  "after-session-ref-stored",
  /** The message counts as sent, and is not. */
  "after-prompt-sent-mark",
  "after-prompt",
  /** The turn is over, and only the agent's process knows. */
  "before-turn-ended-commit",
  "after-turn-ended-commit",
  "before-cancel",
  "before-turn-kill",
  /** The processes of an agent that is killed: about to be ended, and gone. */
  "after-kill-mark",
  "after-processes-ended",
  /** A process has ended by itself; its token is still stored. */
  "before-process-gone",
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

/** Told at each of them. */
export type AtFailpoint = (name: Failpoint) => void;
