import { hrefOf } from "../state/route.js";
import type { Row } from "../state/tree.js";
import { count, money, msOf } from "../text/format.js";
import { Icon } from "./icon.js";
import { PhaseBadge } from "./phase.js";
import { Ago } from "./time.js";

interface AgentRowProps {
  row: Row;
  active: boolean;
  showAccount: boolean;
  onToggle: (open: boolean) => void;
  onFocus: () => void;
}

/** An agent in the tree. The tree has the focus and says which row is meant; the link is for the mouse. */
export function AgentRow({ row, active, showAccount, onToggle, onFocus }: AgentRowProps) {
  const { entry, name, level, children, open } = row;
  const { agentId, phase, totalTokens, cost, progressAt, needsInput } = entry;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tree holds the focus and points here
    <div
      id={`row-${row.uid}`}
      role="treeitem"
      class={`agent-row${row.onTheWay ? " on-the-way" : ""}`}
      aria-level={level}
      aria-posinset={row.place}
      aria-setsize={row.siblings}
      aria-expanded={children > 0 ? open : undefined}
      aria-selected={active}
      onMouseDown={onFocus}
    >
      <span class="name" style={{ paddingLeft: `${(level - 1) * 18}px` }}>
        {children > 0 ? (
          <button
            type="button"
            class={`twisty plain${open ? " open" : ""}`}
            tabIndex={-1}
            aria-label={`${open ? "Close" : "Open"} ${name}`}
            onClick={() => onToggle(!open)}
          >
            <Icon name="chevron" />
          </button>
        ) : (
          <span class="twisty" />
        )}
        <a href={hrefOf("agents", row.uid)} tabIndex={-1}>
          {name}
        </a>
        {!open && children > 0 ? <span class="badge quiet">{children}</span> : null}
        {showAccount && level === 1 ? <span class="tag">{agentId?.account}</span> : null}
        {needsInput === "" ? null : <span class="question">{needsInput}</span>}
      </span>
      <span class="phase-cell">
        <PhaseBadge phase={phase} />
      </span>
      <span class="number tokens">{count(totalTokens)}</span>
      <span class="number cost">{money(cost)}</span>
      <span class="number dim age">
        <Ago ms={msOf(progressAt)} />
      </span>
    </div>
  );
}
