import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import { AgentRow } from "../parts/agent-row.js";
import { Icon } from "../parts/icon.js";
import { Empty, Problem } from "../parts/notice.js";
import { PhaseFilter } from "../parts/phase-filter.js";
import { Windowed } from "../parts/windowed.js";
import { account, entries, includeTerminal, listError, loaded, refreshList } from "../state/agent-list.js";
import { go, hrefOf } from "../state/route.js";
import { may, me } from "../state/session.js";
import { type Row, rowsOf } from "../state/tree.js";
import { rowAfterKey } from "../state/tree-keys.js";
import { search } from "../text/search.js";

const ROW_PX = 40;
const NARROW_ROW_PX = 58;

const closed = new Set<string>();

export function AgentsPage() {
  const wanted = useSignal("");
  const phase = useSignal<Phase>(Phase.UNSPECIFIED);
  const version = useSignal(0);
  const [active, setActive] = useState(0);
  const narrow = useNarrow();
  const rows = useComputed(() => {
    version.value;
    return rowsOf(entries.value, search(wanted.value, phase.value), closed);
  });
  const list = rows.value;

  const toggle = (row: Row, open: boolean) => {
    if (open) closed.delete(row.uid);
    else closed.add(row.uid);
    version.value++;
  };
  const move = (event: KeyboardEvent) => {
    const row = list[active];
    const to = rowAfterKey(event.key, list, active, toggle);
    if (event.key === "Enter" && row) go(hrefOf("agents", row.uid));
    else if (to === undefined) return;
    else setActive(to);
    event.preventDefault();
  };

  return (
    <section class="page agents" aria-labelledby="agents-title">
      <header class="bar">
        <h1 id="agents-title">Agents</h1>
        <label class="search">
          <Icon name="search" />
          <span class="hidden">Search agents</span>
          <input
            type="search"
            placeholder="Name, question, label, account …"
            value={wanted.value}
            onInput={(event) => {
              wanted.value = event.currentTarget.value;
            }}
          />
        </label>
        <AccountSwitch />
        {may("agents:spawn") ? (
          <a class="button primary" href={hrefOf("spawn")}>
            <Icon name="plus" />
            Spawn
          </a>
        ) : null}
      </header>
      <PhaseFilter phase={phase} />
      <Problem text={listError.value} />
      {list.length === 0 ? (
        <NoAgents filtered={wanted.value !== "" || phase.value !== Phase.UNSPECIFIED} />
      ) : (
        <>
          <div class="agent-head" aria-hidden="true">
            <span>Agent</span>
            <span>Phase</span>
            <span class="number">Tokens</span>
            <span class="number">Cost</span>
            <span class="number">Active</span>
          </div>
          <div
            class="tree"
            role="tree"
            aria-label="Agents"
            tabIndex={0}
            aria-activedescendant={list[active] ? `row-${list[active].uid}` : undefined}
            onKeyDown={move}
          >
            <Windowed
              items={list}
              rowHeight={narrow ? NARROW_ROW_PX : ROW_PX}
              active={active}
              render={(row, index) => (
                <AgentRow
                  key={row.uid}
                  row={row}
                  active={index === active}
                  showAccount={account.value === "*"}
                  onToggle={(open) => toggle(row, open)}
                  onFocus={() => setActive(index)}
                />
              )}
            />
          </div>
        </>
      )}
    </section>
  );
}

function AccountSwitch() {
  if (!may("accounts:all")) return null;
  return (
    <label class="select">
      <span class="hidden">Whose agents</span>
      <select
        value={account.value}
        onChange={(event) => {
          account.value = event.currentTarget.value;
        }}
      >
        <option value="*">All accounts</option>
        <option value="">Only {me.value?.account}</option>
      </select>
    </label>
  );
}

function NoAgents({ filtered }: { filtered: boolean }) {
  if (!loaded.value) return <Empty title="One moment …" />;
  if (filtered) return <Empty title="No agent fits." />;
  return (
    <Empty title={includeTerminal.value ? "There is no agent yet." : "No agent is alive."}>
      {may("agents:spawn") ? <a href={hrefOf("spawn")}>Spawn one</a> : null}
    </Empty>
  );
}

function useNarrow(): boolean {
  const query = useRef(matchMedia("(max-width: 700px)"));
  const [narrow, setNarrow] = useState(query.current.matches);
  useEffect(() => {
    const changed = () => setNarrow(query.current.matches);
    query.current.addEventListener("change", changed);
    refreshList();
    return () => query.current.removeEventListener("change", changed);
  }, []);
  return narrow;
}
