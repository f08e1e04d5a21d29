/** How far an agent's log has been posted to an integration. */
export interface WebhookCursorRow {
  readonly uid: string;
  readonly integration: string;
  /** When the integration was made: one that is made anew under its name begins anew. */
  readonly createdAtMs: number;
  /** Last event that was posted or passed over. */
  readonly seq: number;
}

/** The branch of a pull request, as its code host told it. */
export interface PullRequestRow {
  readonly tenant: string;
  readonly integration: string;
  readonly repo: string;
  readonly number: number;
  readonly branch: string;
}

/** The last time of a schedule that is dealt with, and what became of it. */
export interface ScheduleRunRow {
  readonly tenant: string;
  readonly name: string;
  readonly dueAtMs: number;
  /** The agent that it started or wrote to; empty: none. */
  readonly uid: string;
  /** The message that it sent; empty: it spawned, or nothing came of it. */
  readonly messageId: string;
  /** Why nothing came of it; empty otherwise. */
  readonly error: string;
}

export interface AutomationReads {
  webhookCursor(key: Omit<WebhookCursorRow, "seq">): Promise<WebhookCursorRow | undefined>;
  /**
   * Agents of a tenant, live or ended since the integration was made, whose log is ahead of its cursor, by uid after
   * `afterUid`.
   */
  webhookBacklog(query: WebhookBacklogQuery): Promise<string[]>;
  pullRequest(key: Omit<PullRequestRow, "branch">): Promise<PullRequestRow | undefined>;
  scheduleRun(tenant: string, name: string): Promise<ScheduleRunRow | undefined>;
}

export interface WebhookBacklogQuery {
  readonly tenant: string;
  readonly integration: string;
  readonly createdAtMs: number;
  readonly afterUid: string;
  readonly limit: number;
}

/** Each replaces what is under its key. */
export type AutomationChange =
  | { readonly type: "webhookCursor"; readonly row: WebhookCursorRow }
  | { readonly type: "pullRequest"; readonly row: PullRequestRow }
  | { readonly type: "scheduleRun"; readonly row: ScheduleRunRow };
