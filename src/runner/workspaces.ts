/**
 * The files that agents work on. The engine knows this port only; how repositories are copied and where they lie is
 * the adapter's business.
 *
 * An agent never sees a repository of others: its checkout borrows objects, read-only, from a copy of the upstream,
 * and its `origin` is a repository of the server that takes pushes to the agent's own branch and nothing else.
 */
export interface Workspaces {
  /**
   * Makes every checkout that is not there yet, tells of pushes that were taken but not told, and opens `origin` to
   * the agent. Idempotent: whatever a crash left half-made is made again. Errors: `RunnerError`, fatal, naming the
   * repository and the cause; after `spec.signal` has fired, `start_aborted`.
   */
  open(spec: WorkspaceSpec): Promise<Workspace>;

  /** Hands a commit that was pushed on to the upstream, under the same branch. Idempotent. Rejects with the cause. */
  forward(push: ForwardSpec): Promise<void>;

  /** Where a repository of an agent started, and what must be readable to look at it; undefined: it is not there. */
  look(
    uid: string,
    tenant: string,
    repo: Pick<RepoSpec, "name" | "url"> | undefined,
  ): Promise<{ readonly base: string; readonly readable: readonly string[] } | undefined>;

  /** Agents that have files. */
  list(): Promise<string[]>;

  /** Deletes everything of an agent: checkouts, origin, home. Idempotent. */
  remove(uid: string): Promise<void>;
}

export interface WorkspaceSpec {
  readonly uid: string;
  /** Copies of upstreams are shared within a tenant and never between two. */
  readonly tenant: string;
  readonly branch: string;
  /** Name of the agent in its commits. */
  readonly author: string;
  readonly repos: readonly RepoSpec[];
  /** Whose branch to start from; undefined: the base branch of each repository. */
  readonly parent: { readonly uid: string; readonly branch: string } | undefined;
  /** Carried by every process that is started here, so that a sweep finds it. */
  readonly processToken: string;
  readonly onStep: (step: SetupStep) => void;
  /** A push that git has taken; it is acknowledged to the agent once this resolves, and refused if it rejects. */
  readonly onPush: (push: Push) => Promise<void>;
  readonly signal: AbortSignal;
}

export interface RepoSpec {
  readonly name: string;
  readonly url: string;
  /** Empty: the upstream's default. */
  readonly baseBranch: string;
}

/** Progress of the set-up, for people. */
export interface SetupStep {
  /** `clone shop`. */
  readonly name: string;
  readonly state: "started" | "output" | "done" | "failed";
  readonly output: string;
}

export interface Push {
  readonly repo: string;
  readonly branch: string;
  readonly commit: string;
  readonly files: readonly string[];
}

export interface ForwardSpec {
  readonly uid: string;
  readonly repo: string;
  /** The upstream. */
  readonly url: string;
  readonly branch: string;
  readonly commit: string;
}

/** Open while the agent's process lives. */
export interface Workspace {
  /** What the process must be able to read for git to work, beside its own folders. */
  readonly readable: readonly string[];
  /** Whether what comes after the clones was done before, and how to note that it is. */
  readonly ready: boolean;
  markReady(): Promise<void>;
  /** Closes `origin`; pushes under way are cut. Idempotent. */
  close(): Promise<void>;
}
