import type { UsageOfAgent, UsageQuery, UsageTotal } from "../agent-rows.js";
import type { Connection } from "./connection.js";

/** By uid, not by path: an ended agent's path may have been used again. */
const TREE = `
  WITH RECURSIVE tree(uid, descendants) AS (
    SELECT ?, ?
    UNION ALL
    SELECT agent.uid, 1 FROM agent JOIN tree ON agent.parent_uid = tree.uid
    WHERE agent.parent_uid <> '' AND tree.descendants = 1
  )`;

const ENTRY = `
  usage.uid, run_id AS runId, attempt, model, input_tokens AS inputTokens, cached_input_tokens AS cachedInputTokens,
  output_tokens AS outputTokens, cost, at_ms AS atMs,
  tenant, owner_provider AS ownerProvider, account, workspace, path`;

export function createUsageRead(
  db: Connection,
): (query: UsageQuery) => { rows: UsageOfAgent[]; total: UsageTotal } {
  const page = db.prepare<unknown[], UsageOfAgent>(
    `${TREE} SELECT ${ENTRY} FROM tree JOIN usage USING (uid) JOIN agent USING (uid)
     WHERE (path, usage.uid, run_id, attempt) > (?, ?, ?, ?)
     ORDER BY path, usage.uid, run_id, attempt LIMIT ?`,
  );
  const total = db.prepare<unknown[], UsageTotal>(
    `${TREE} SELECT coalesce(sum(input_tokens), 0) AS inputTokens,
       coalesce(sum(cached_input_tokens), 0) AS cachedInputTokens,
       coalesce(sum(output_tokens), 0) AS outputTokens, round(coalesce(sum(cost), 0), 9) AS cost
     FROM tree JOIN usage USING (uid)`,
  );
  // Two statements, one committed state.
  return db.transaction(({ uid, descendants, after, limit }: UsageQuery) => {
    const tree = [uid, descendants ? 1 : 0];
    const rows = page.all(...tree, after.path, after.uid, after.runId, after.attempt, limit);
    return { rows, total: total.get(...tree) as UsageTotal };
  });
}
