/**
 * What the store keeps of agents. Rows are made for reading: what lists and look-ups filter by is a column, the
 * rest of an agent is one JSON text that the engine alone understands.
 */

/** An agent, one incarnation of a path. Unique among live agents: (tenant, owner, account, workspace, path). */
export interface AgentRow {
  readonly uid: string;
  readonly tenant: string;
  readonly ownerProvider: number;
  readonly account: string;
  readonly workspace: string;
  /** Elements joined by `/`. */
  readonly path: string;
  /** Empty for a root. */
  readonly parentUid: string;
  readonly phase: number;
  /** False once the phase is terminal. */
  readonly live: boolean;
  /** False once nothing of it is left to do: terminal, and its processes known to be gone. */
  readonly unsettled: boolean;
  /** One up with every change of the agent; the precondition of the next. */
  readonly version: number;
  /** Newest event of its log. */
  readonly lastSeq: number;
  readonly createdAtMs: number;
  readonly endedAtMs: number | undefined;
  /** JSON of the aggregate without description, expected output, tasks and messages. */
  readonly state: string;
}

/** What never changes, and may be large. */
export interface AgentTextsRow {
  readonly uid: string;
  readonly description: string;
  readonly expectedOutput: string;
}

/** A follow-up under its ID, whatever became of it; a removed one has no row, so that its ID is free. */
export interface FollowUpRow {
  readonly uid: string;
  readonly followUpId: string;
  /** DEFERRED and QUEUED are pending; DELIVERED and CLEARED are kept for good. */
  readonly state: number;
  readonly pending: boolean;
  readonly fingerprint: string;
  /** Run that it was delivered to; 0: none. */
  readonly runId: number;
  /** Event that accepted it; 0 in a change keeps what is stored. */
  readonly seq: number;
  /** JSON of the message; a turn that starts again after a crash finds its prompt here. */
  readonly body: string;
}

/** An entry of an agent's log; `seq` is gapless per uid. */
export interface EventRow {
  readonly uid: string;
  readonly seq: number;
  readonly eventId: string;
  readonly atMs: number;
  readonly type: number;
  readonly runId: number;
  readonly attempt: number;
  readonly actor: string;
  /** The EventPayload message, encoded. */
  readonly payload: Uint8Array;
}

/** A spawn under a caller's request ID. */
export interface SpawnRequestRow {
  readonly tenant: string;
  readonly ownerProvider: number;
  readonly account: string;
  readonly requestId: string;
  readonly fingerprint: string;
  readonly uid: string;
  readonly atMs: number;
}

/** A process of an agent, stored before it is started: after a crash its token finds what is left of it. */
export interface ProcessRow {
  readonly token: string;
  readonly uid: string;
  readonly startedAtMs: number;
}

/** What a later process needs in order to go on with an agent's session. */
export interface SessionRow {
  readonly uid: string;
  readonly sessionRef: string;
  /** The program's own count of dollars, from which the next delta is taken. */
  readonly costSoFar: number;
}

/** What one attempt of one run has used; in a change: what is to be added. */
export interface UsageRow {
  readonly uid: string;
  readonly runId: number;
  readonly attempt: number;
  readonly model: string;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
  /** Of the last addition. */
  readonly atMs: number;
}

/** A page of the ledger of an agent, by path, uid, run and attempt. */
export interface UsageQuery {
  readonly uid: string;
  /** Every agent below, too. */
  readonly descendants: boolean;
  /** The last row of the page before. */
  readonly after: Pick<UsageRow, "uid" | "runId" | "attempt"> & { readonly path: string };
  readonly limit: number;
}

export type UsageOfAgent = UsageRow &
  Pick<AgentRow, "tenant" | "ownerProvider" | "account" | "workspace" | "path">;

export type UsageTotal = Pick<UsageRow, "inputTokens" | "cachedInputTokens" | "outputTokens" | "cost">;

/** The newest push of an agent to a branch, and how far it has come to the upstream. */
export interface PushRow {
  readonly uid: string;
  readonly repo: string;
  readonly branch: string;
  /** The upstream. */
  readonly url: string;
  readonly commit: string;
  readonly pushedAtMs: number;
  /** The commit that the upstream has taken last; empty: none. Pending while it is not `commit`. */
  readonly forwardedCommit: string;
  /** Failed tries at `commit`, when the next is due, and what went wrong at the last. */
  readonly attempts: number;
  readonly dueAtMs: number;
  readonly error: string;
}

/** An agent with everything that its rules look at, read in one snapshot. */
export interface AgentRecord {
  readonly row: AgentRow;
  readonly texts: AgentTextsRow;
  /** JSON of the task list. */
  readonly tasks: string;
  /** Pending ones only. */
  readonly followUps: readonly FollowUpRow[];
}

/** Incarnations at a path, newest first. */
export interface IncarnationsQuery {
  readonly tenant: string;
  readonly ownerProvider: number;
  readonly account: string;
  readonly path: string;
  /** Undefined: every workspace. */
  readonly workspace: string | undefined;
  readonly limit: number;
}

/** A level of the tree, or all that is below, by path then uid, after a cursor. */
export interface AgentsQuery {
  readonly tenant: string;
  /** Empty: roots. */
  readonly parentUid: string;
  /** Every level below, too. */
  readonly descendants: boolean;
  /** Undefined: every owner. */
  readonly owner: { readonly ownerProvider: number; readonly account: string } | undefined;
  readonly includeTerminal: boolean;
  /** `path` and `uid` of the last row of the page before. */
  readonly after: { readonly path: string; readonly uid: string } | undefined;
  readonly limit: number;
}

export interface EventsQuery {
  readonly uid: string;
  readonly afterSeq: number;
  /** Empty: all. */
  readonly types: readonly number[];
  /** 0: all. */
  readonly runId: number;
  readonly limit: number;
}

export interface AgentReads {
  agent(uid: string): Promise<AgentRecord | undefined>;
  /** Whether the agent has not ended; false, too, where there is none. */
  isLive(uid: string): Promise<boolean>;
  incarnations(query: IncarnationsQuery): Promise<AgentRow[]>;
  /** Agents of a tenant whose uid begins so; a branch names its agent by the first characters. */
  agentsByUid(tenant: string, start: string): Promise<AgentRow[]>;
  agents(query: AgentsQuery): Promise<AgentRow[]>;
  /** Uids of every agent with something left to do: what the sweep at boot looks at. */
  unsettledAgents(): Promise<string[]>;
  /** Uids. */
  liveAgents(tenant: string): Promise<string[]>;
  /** Direct children by phase, live and ended. */
  childPhases(uid: string): Promise<{ readonly phase: number; readonly count: number }[]>;
  followUp(uid: string, followUpId: string): Promise<FollowUpRow | undefined>;
  /** Oldest first. */
  events(query: EventsQuery): Promise<EventRow[]>;
  /** Logs whose newest event is not the one that their agent counts: bytes were lost. Looked at on start-up. */
  brokenLogs(): Promise<string[]>;
  processes(): Promise<ProcessRow[]>;
  session(uid: string): Promise<SessionRow | undefined>;
  /** A page of the ledger, each row with its agent, and the sum of the whole. */
  usage(query: UsageQuery): Promise<{ readonly rows: readonly UsageOfAgent[]; readonly total: UsageTotal }>;
  /** By repository and branch. */
  pushes(uid: string): Promise<PushRow[]>;
  /** Every push that the upstream has not taken yet, by due time. */
  pendingPushes(): Promise<PushRow[]>;
  spawnRequest(
    key: Omit<SpawnRequestRow, "fingerprint" | "uid" | "atMs">,
  ): Promise<SpawnRequestRow | undefined>;
}

/** What is over, and what of it is still to be removed. */
export interface RetentionReads {
  /** Roots of a tenant that ended before a time, and everything below them too; oldest first. */
  endedTrees(tenant: string, beforeMs: number, limit: number): Promise<string[]>;
  /** An agent and everything below it, deepest first. */
  treeOf(uid: string): Promise<string[]>;
  /** Agents that are gone but for some of their rows and their folder. */
  purging(): Promise<string[]>;
  /** Whether rows of an agent are left. */
  hasRows(uid: string): Promise<boolean>;
}

export type RetentionChange =
  /** The agent is not to be found any more; stale unless it has ended for good. Its other rows stay for now. */
  | { readonly type: "agentGone"; readonly uid: string }
  /** Removes so many rows of each sort. */
  | { readonly type: "agentRowsGone"; readonly uid: string; readonly limit: number }
  /** Nothing of the agent is left. */
  | { readonly type: "purged"; readonly uid: string }
  | { readonly type: "spawnRequestsGone"; readonly beforeMs: number };

export type AgentStoreChange =
  | RetentionChange
  /** `ifVersion` 0 inserts; stale when the uid exists, or a live agent is at the path. */
  | { readonly type: "agent"; readonly row: AgentRow; readonly ifVersion: number }
  | { readonly type: "agentTexts"; readonly row: AgentTextsRow }
  /** Replaces the list. */
  | { readonly type: "tasks"; readonly uid: string; readonly tasks: string }
  /** Inserts, or replaces what is under the ID. */
  | { readonly type: "followUp"; readonly row: FollowUpRow }
  | { readonly type: "followUpRemoved"; readonly uid: string; readonly followUpId: string }
  /** Stale when the log already has that seq, or would get a gap. */
  | { readonly type: "event"; readonly row: EventRow }
  | { readonly type: "process"; readonly row: ProcessRow }
  | { readonly type: "processGone"; readonly token: string }
  | { readonly type: "session"; readonly row: SessionRow }
  /** Adds to what the attempt has used. */
  | { readonly type: "usage"; readonly row: UsageRow }
  /** Replaces the branch's newest push; what was forwarded stays. */
  | {
      readonly type: "push";
      readonly row: Pick<PushRow, "uid" | "repo" | "branch" | "url" | "commit" | "pushedAtMs">;
    }
  | {
      readonly type: "pushForwarded";
      readonly row: Pick<PushRow, "uid" | "repo" | "branch" | "forwardedCommit">;
    }
  /** Nothing once the branch has moved on. */
  | {
      readonly type: "pushFailed";
      readonly row: Pick<PushRow, "uid" | "repo" | "branch" | "commit" | "attempts" | "dueAtMs" | "error">;
    }
  /** Replaces what is under the request ID. */
  | { readonly type: "spawnRequest"; readonly row: SpawnRequestRow };
