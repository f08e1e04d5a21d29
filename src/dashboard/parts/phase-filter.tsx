import type { Signal } from "@preact/signals";
import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import { entries, includeTerminal, refreshList } from "../state/agent-list.js";
import { ENDED_PHASES, LIVE_PHASES, PHASES } from "../text/phases.js";

/** How many agents are in each phase, and a click narrows to one. */
export function PhaseFilter({ phase }: { phase: Signal<Phase> }) {
  const counts = new Map<Phase, number>();
  for (const entry of entries.value) counts.set(entry.phase, (counts.get(entry.phase) ?? 0) + 1);
  const shown = includeTerminal.value ? [...LIVE_PHASES, ...ENDED_PHASES] : LIVE_PHASES;
  return (
    <div class="filters" role="group" aria-label="Filter by phase">
      <Chip phase={phase} is={Phase.UNSPECIFIED} label="All" count={entries.value.length} />
      {shown.map((is) => (
        <Chip key={is} phase={phase} is={is} label={PHASES[is].label} count={counts.get(is) ?? 0} />
      ))}
      <label class="check">
        <input
          type="checkbox"
          checked={includeTerminal.value}
          onChange={(event) => {
            includeTerminal.value = event.currentTarget.checked;
            if (ENDED_PHASES.some((ended) => ended === phase.value)) phase.value = Phase.UNSPECIFIED;
            refreshList();
          }}
        />
        Ended too
      </label>
    </div>
  );
}

interface ChipProps {
  phase: Signal<Phase>;
  is: Phase;
  label: string;
  count: number;
}

function Chip({ phase, is, label, count }: ChipProps) {
  return (
    <button
      type="button"
      class={`chip ${PHASES[is].tone}`}
      aria-pressed={phase.value === is}
      onClick={() => {
        phase.value = phase.value === is ? Phase.UNSPECIFIED : is;
      }}
    >
      {is === Phase.UNSPECIFIED ? null : <span class="dot" aria-hidden="true" />}
      {label} <span class="dim">{count}</span>
    </button>
  );
}
