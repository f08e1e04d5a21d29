import type { FunctionComponent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { AgentPage } from "./pages/agent.js";
import { AgentsPage } from "./pages/agents.js";
import { Empty } from "./parts/notice.js";
import { hrefOf, parts, path } from "./state/route.js";

type Load = () => Promise<FunctionComponent>;

/** Pages that are not looked at often come when they are asked for. */
const LATER: Readonly<Record<string, Load>> = {
  inbox: async () => (await import("./pages/inbox.js")).InboxPage,
  spawn: async () => (await import("./pages/spawn.js")).SpawnPage,
  catalog: async () => (await import("./pages/catalog.js")).CatalogPage,
  pools: async () => (await import("./pages/pools.js")).PoolsPage,
  keys: async () => (await import("./pages/keys.js")).KeysPage,
  audit: async () => (await import("./pages/audit.js")).AuditPage,
};

export function Pages() {
  const [place = "", name] = parts.value;
  useFocusOnArrival(path.value);
  if (place === "" || (place === "agents" && name === undefined)) return <AgentsPage />;
  if (place === "agents" && name !== undefined) return <AgentPage key={name} uid={name} />;
  const load = LATER[place];
  if (load !== undefined) return <Later key={place} load={load} />;
  return (
    <Empty title="There is no such page.">
      <a href={hrefOf("agents")}>To the agents</a>
    </Empty>
  );
}

/** Whoever follows a link goes on reading at the page that it leads to, not at the top of everything. */
function useFocusOnArrival(at: string): void {
  const before = useRef(at);
  useEffect(() => {
    if (before.current === at) return;
    before.current = at;
    document.getElementById("content")?.focus({ preventScroll: true });
  }, [at]);
}

function Later({ load }: { load: Load }) {
  const [Page, setPage] = useState<FunctionComponent>();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    load().then(
      (page) => setPage(() => page),
      () => setFailed(true),
    );
  }, [load]);
  if (failed) return <Empty title="This page could not be loaded. Load it again." />;
  return Page === undefined ? <Empty title="One moment …" /> : <Page />;
}
