import { useEffect, useState } from "preact/hooks";
import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import type { GetResourceResponse } from "../../../gen/retinue/v1/catalog_service_pb.js";
import { useAction } from "../parts/action.js";
import { Empty, Problem } from "../parts/notice.js";
import { account, entries } from "../state/agent-list.js";
import { documentOf, listDocuments } from "../state/documents.js";
import { hrefOf } from "../state/route.js";

/** How many turns may run at once, and how many do. */
export function PoolsPage() {
  const [pools, setPools] = useState<readonly GetResourceResponse[]>();
  const load = useAction(async () => setPools(await listDocuments("pool-config")));
  useEffect(() => void load.run(), []);
  return (
    <section class="page" aria-labelledby="pools-title">
      <header class="bar">
        <h1 id="pools-title">Pools</h1>
      </header>
      <Problem text={load.problem} />
      {pools?.length === 0 ? <Empty title="There is no pool." /> : null}
      <ul class="cards">
        {pools?.map((pool) => (
          <li key={pool.name}>
            <Pool pool={pool} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Pool({ pool }: { pool: GetResourceResponse }) {
  const document = documentOf(pool.payload);
  const slots = Number(document.slots ?? 0);
  const perAccount = Number(document.slotsPerAccount ?? 0);
  const perTree = Number(document.slotsPerTree ?? 0);
  const inPhase = (phase: Phase) => entries.value.filter((entry) => entry.phase === phase).length;
  // Agents run in the pool of this name until they can name another.
  const used = pool.name === "default";
  const running = inPhase(Phase.RUNNING);
  return (
    <article class="card pool">
      <header>
        <h2>
          <a href={hrefOf("catalog", "pool-config", pool.name)}>{pool.name}</a>
        </h2>
        {pool.generation === 0n ? <span class="tag">builtin</span> : null}
      </header>
      <p class="dim">{String(document.description ?? "")}</p>
      {used ? (
        <>
          <meter min={0} max={slots} value={running} aria-label={`${running} of ${slots} slots in use`} />
          <p>
            <strong>{running}</strong> of {slots} slots in use · {inPhase(Phase.PENDING)} waiting
            {account.value === "*" ? "" : " (your own agents)"}
          </p>
        </>
      ) : (
        <p>{slots} slots</p>
      )}
      <p class="dim">
        {perAccount === 0 ? "No limit per account" : `At most ${perAccount} per account`},{" "}
        {perTree === 0 ? "none per tree" : `${perTree} per tree`}.
      </p>
    </article>
  );
}
