import type { Statement } from "better-sqlite3";
import type {
  AgentReads,
  AgentRow,
  AgentsQuery,
  AgentTextsRow,
  EventRow,
  EventsQuery,
  FollowUpRow,
  ProcessRow,
  PushRow,
  SessionRow,
  SpawnRequestRow,
} from "../agent-rows.js";
import type { Connection } from "./connection.js";
import { createUsageRead } from "./usage-reads.js";

const AGENT = `
  uid, tenant, owner_provider AS ownerProvider, account, workspace, path, parent_uid AS parentUid, phase, live,
  unsettled, version, last_seq AS lastSeq, created_at_ms AS createdAtMs, ended_at_ms AS endedAtMs, state`;

const FOLLOW_UP = "uid, follow_up_id AS followUpId, state, pending, fingerprint, run_id AS runId, seq, body";

const PUSH = `
  uid, repo, branch, url, commit_id AS "commit", pushed_at_ms AS pushedAtMs, forwarded_commit AS forwardedCommit,
  attempts, due_at_ms AS dueAtMs, error`;

/** As SQLite has it: no booleans, and NULL for undefined. */
type Raw<T> = { [K in keyof T]: T[K] extends boolean ? number : undefined extends T[K] ? T[K] | null : T[K] };

export function createAgentReads(db: Connection): AgentReads {
  const agent = db.prepare<[string], Raw<AgentRow>>(`SELECT ${AGENT} FROM agent WHERE uid = ?`);
  const isLive = db.prepare<[string], number>("SELECT live FROM agent WHERE uid = ?").pluck();
  const texts = db.prepare<[string], AgentTextsRow>(
    "SELECT uid, description, expected_output AS expectedOutput FROM agent_texts WHERE uid = ?",
  );
  const tasks = db.prepare<[string], string>("SELECT tasks FROM agent_tasks WHERE uid = ?").pluck();
  const pending = db.prepare<[string], Raw<FollowUpRow>>(
    `SELECT ${FOLLOW_UP} FROM follow_up WHERE uid = ? AND pending = 1`,
  );
  const followUp = db.prepare<[string, string], Raw<FollowUpRow>>(
    `SELECT ${FOLLOW_UP} FROM follow_up WHERE uid = ? AND follow_up_id = ?`,
  );
  const incarnations = db.prepare<unknown[], Raw<AgentRow>>(
    `SELECT ${AGENT} FROM agent
     WHERE tenant = ? AND owner_provider = ? AND account = ? AND path = ? AND workspace = coalesce(?, workspace)
     ORDER BY created_at_ms DESC, live DESC LIMIT ?`,
  );
  const byUid = db.prepare<[string, string, string], Raw<AgentRow>>(
    `SELECT ${AGENT} FROM agent WHERE uid >= ? AND uid < ? || char(0x10ffff) AND tenant = ? ORDER BY uid`,
  );
  const unsettled = db
    .prepare<[], string>("SELECT uid FROM agent INDEXED BY agent_unsettled WHERE unsettled = 1")
    .pluck();
  const live = db
    .prepare<[string], string>(
      "SELECT uid FROM agent INDEXED BY agent_live_tree WHERE tenant = ? AND live = 1",
    )
    .pluck();
  const childPhases = db.prepare<[string], { phase: number; count: number }>(
    "SELECT phase, count(*) AS count FROM agent WHERE parent_uid = ? AND parent_uid <> '' GROUP BY phase ORDER BY phase",
  );
  const brokenLogs = db
    .prepare<[], string>(
      `SELECT uid FROM agent INDEXED BY agent_unsettled
       WHERE unsettled = 1 AND last_seq <> (SELECT coalesce(max(seq), 0) FROM event WHERE event.uid = agent.uid)`,
    )
    .pluck();
  const processes = db.prepare<[], ProcessRow>(
    "SELECT token, uid, started_at_ms AS startedAtMs FROM process",
  );
  const session = db.prepare<[string], SessionRow>(
    "SELECT uid, session_ref AS sessionRef, cost_so_far AS costSoFar FROM session WHERE uid = ?",
  );
  const pushes = db.prepare<[string], PushRow>(
    `SELECT ${PUSH} FROM push WHERE uid = ? ORDER BY repo, branch`,
  );
  const pendingPushes = db.prepare<[], PushRow>(
    `SELECT ${PUSH} FROM push INDEXED BY push_pending WHERE commit_id <> forwarded_commit ORDER BY due_at_ms`,
  );
  const spawnRequest = db.prepare<unknown[], SpawnRequestRow>(
    `SELECT tenant, owner_provider AS ownerProvider, account, request_id AS requestId, fingerprint, uid, at_ms AS atMs
     FROM spawn_request WHERE tenant = ? AND owner_provider = ? AND account = ? AND request_id = ?`,
  );
  const usage = createUsageRead(db);
  const agents = createAgentList(db);
  const events = createEventRead(db);

  // Several statements, one committed state.
  const record = db.transaction((uid: string) => {
    const row = agent.get(uid);
    if (row === undefined) return undefined;
    return {
      row: toAgent(row),
      texts: texts.get(uid) ?? { uid, description: "", expectedOutput: "" },
      tasks: tasks.get(uid) ?? "[]",
      followUps: pending.all(uid).map(toFollowUp),
    };
  });

  return {
    agent: async (uid) => record(uid),
    isLive: async (uid) => isLive.get(uid) === 1,
    async agentsByUid(tenant, start) {
      return byUid.all(start, start, tenant).map(toAgent);
    },
    async incarnations({ tenant, ownerProvider, account, path, workspace, limit }) {
      return incarnations.all(tenant, ownerProvider, account, path, workspace ?? null, limit).map(toAgent);
    },
    agents: async (query) => agents(query).map(toAgent),
    unsettledAgents: async () => unsettled.all(),
    liveAgents: async (tenant) => live.all(tenant),
    childPhases: async (uid) => childPhases.all(uid),
    async followUp(uid, followUpId) {
      const row = followUp.get(uid, followUpId);
      return row && toFollowUp(row);
    },
    events: async (query) => events(query),
    brokenLogs: async () => brokenLogs.all(),
    processes: async () => processes.all(),
    usage: async (query) => usage(query),
    session: async (uid) => session.get(uid),
    pushes: async (uid) => pushes.all(uid),
    pendingPushes: async () => pendingPushes.all(),
    spawnRequest: async ({ tenant, ownerProvider, account, requestId }) =>
      spawnRequest.get(tenant, ownerProvider, account, requestId),
  };
}

function toAgent(row: Raw<AgentRow>): AgentRow {
  return {
    ...row,
    live: row.live === 1,
    unsettled: row.unsettled === 1,
    endedAtMs: row.endedAtMs ?? undefined,
  };
}

function toFollowUp(row: Raw<FollowUpRow>): FollowUpRow {
  return { ...row, pending: row.pending === 1 };
}

/** By uid, not by path: an ended agent's path may have been used again. */
const BELOW = `uid IN (
  WITH RECURSIVE below(uid) AS (
    SELECT uid FROM agent WHERE parent_uid = ? AND parent_uid <> ''
    UNION ALL
    SELECT child.uid FROM agent AS child JOIN below ON child.parent_uid = below.uid WHERE child.parent_uid <> ''
  )
  SELECT uid FROM below
)`;

/** One statement per set of filters, each with the index that fits it. */
function createAgentList(db: Connection): (query: AgentsQuery) => Raw<AgentRow>[] {
  const prepared = new Map<string, Statement<unknown[], Raw<AgentRow>>>();
  return ({ tenant, parentUid, descendants, owner, includeTerminal, after, limit }) => {
    const conditions = ["tenant = ?"];
    const values: unknown[] = [tenant];
    if (!descendants || parentUid !== "") {
      conditions.push(descendants ? BELOW : "parent_uid = ?");
      values.push(parentUid);
    }
    if (!includeTerminal) conditions.push("live = 1");
    if (after) {
      conditions.push("(path, uid) > (?, ?)");
      values.push(after.path, after.uid);
    }
    if (owner) {
      conditions.push("owner_provider = ?", "account = ?");
      values.push(owner.ownerProvider, owner.account);
    }
    const where = conditions.join(" AND ");
    let statement = prepared.get(where);
    if (!statement) {
      const index = `INDEXED BY ${includeTerminal ? "agent" : "agent_live"}_${descendants ? "tree" : "list"}`;
      statement = db.prepare(
        `SELECT ${AGENT} FROM agent ${descendants && parentUid !== "" ? "" : index} WHERE ${where} ORDER BY path, uid LIMIT ?`,
      );
      prepared.set(where, statement);
    }
    return statement.all(...values, limit);
  };
}

function createEventRead(db: Connection): (query: EventsQuery) => EventRow[] {
  const prepared = new Map<string, Statement<unknown[], EventRow>>();
  return ({ uid, afterSeq, types, runId, limit }) => {
    const conditions = ["uid = ?", "seq > ?"];
    const values: unknown[] = [uid, afterSeq];
    if (types.length > 0) {
      conditions.push("type IN (SELECT value FROM json_each(?))");
      values.push(JSON.stringify(types));
    }
    if (runId !== 0) {
      conditions.push("run_id = ?");
      values.push(runId);
    }
    const where = conditions.join(" AND ");
    let statement = prepared.get(where);
    if (!statement) {
      statement = db.prepare(
        `SELECT uid, seq, event_id AS eventId, at_ms AS atMs, type, run_id AS runId, attempt, actor, payload
         FROM event WHERE ${where} ORDER BY seq LIMIT ?`,
      );
      prepared.set(where, statement);
    }
    return statement.all(...values, limit);
  };
}
