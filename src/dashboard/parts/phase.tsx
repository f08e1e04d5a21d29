import type { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import { PHASES } from "../text/phases.js";

export function PhaseBadge({ phase }: { phase: Phase }) {
  const { label, tone } = PHASES[phase];
  return (
    <span class={`phase ${tone}`}>
      <span class="dot" aria-hidden="true" />
      {label}
    </span>
  );
}
