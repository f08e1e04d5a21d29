import { useEffect, useState } from "preact/hooks";
import type { PoolStatus } from "../../../gen/retinue/v1/pool_service_pb.js";
import { useAction } from "../parts/action.js";
import { Problem } from "../parts/notice.js";
import { pools as poolService } from "../state/api.js";
import { hrefOf } from "../state/route.js";

const AGAIN_MS = 3000;

/** How many turns may run at once, and how many do. */
export function PoolsPage() {
  const [pools, setPools] = useState<readonly PoolStatus[]>();
  const load = useAction(async () => setPools((await poolService.listPools({})).pools));
  useEffect(() => {
    void load.run();
    const again = setInterval(() => {
      if (!document.hidden) void load.run();
    }, AGAIN_MS);
    return () => clearInterval(again);
  }, []);
  return (
    <section class="page" aria-labelledby="pools-title">
      <header class="bar">
        <h1 id="pools-title">Pools</h1>
      </header>
      <Problem text={load.problem} />
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

function Pool({ pool }: { pool: PoolStatus }) {
  const { name, slots, held, waiting, slotsPerAccount, slotsPerTree } = pool;
  return (
    <article class="card pool">
      <header>
        <h2>
          <a href={hrefOf("catalog", "pool-config", name)}>{name}</a>
        </h2>
      </header>
      <meter min={0} max={slots} value={held} aria-label={`${held} of ${slots} slots in use`} />
      <p>
        <strong>{held}</strong> of {slots} slots in use · {waiting} waiting
      </p>
      <p class="dim">
        {slotsPerAccount === 0 ? "No limit per account" : `At most ${slotsPerAccount} per account`},{" "}
        {slotsPerTree === 0 ? "none per tree" : `${slotsPerTree} per tree`}.
      </p>
    </article>
  );
}
