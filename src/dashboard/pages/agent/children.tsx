import { useEffect, useState } from "preact/hooks";
import type { AgentStatus } from "../../../../gen/retinue/v1/agent_pb.js";
import type { AgentListEntry } from "../../../../gen/retinue/v1/agent_service_pb.js";
import { PhaseBadge } from "../../parts/phase.js";
import { Section } from "../../parts/section.js";
import type { AgentView } from "../../state/agent-view.js";
import { agents } from "../../state/api.js";
import { agentHref } from "../../state/route.js";
import { money } from "../../text/format.js";

export function Children({ view, status }: { view: AgentView; status: AgentStatus }) {
  const [children, setChildren] = useState<readonly AgentListEntry[]>([]);
  const counts = status.children.map(({ phase, count }) => `${phase}:${count}`).join();
  useEffect(() => {
    if (counts === "") return setChildren([]);
    agents.listAgents({ parentId: view.agentId, includeTerminal: true }).then(
      (list) => setChildren(list.entries),
      () => {},
    );
  }, [view, counts]);
  if (children.length === 0) return null;
  return (
    <Section title="Children" extra={children.length}>
      <ul class="children">
        {children.map(({ agentId, phase, cost, needsInput }) => (
          <li key={agentId?.uid}>
            <a href={agentHref(agentId?.uid ?? "")}>{agentId?.agent.at(-1)}</a>
            <PhaseBadge phase={phase} />
            <span class="number dim">{money(cost)}</span>
            {needsInput === "" ? null : <span class="question">{needsInput}</span>}
          </li>
        ))}
      </ul>
    </Section>
  );
}
