import { useEffect, useState } from "preact/hooks";
import type { AgentListEntry } from "../../../../gen/retinue/v1/agent_service_pb.js";
import { useAction } from "../../parts/action.js";
import { Dialog } from "../../parts/dialog.js";
import { Problem, tell } from "../../parts/notice.js";
import { PhaseBadge } from "../../parts/phase.js";
import { refreshList } from "../../state/agent-list.js";
import type { AgentView } from "../../state/agent-view.js";
import { agents } from "../../state/api.js";
import { pathOf } from "../../state/tree.js";
import { plural } from "../../text/format.js";

interface KillDialogProps {
  view: AgentView;
  name: string;
  onClose: () => void;
}

/** Says what will die before it does. */
export function KillDialog({ view, name, onClose }: KillDialogProps) {
  const [below, setBelow] = useState<readonly AgentListEntry[]>();
  const look = useAction(async () => {
    const list = await agents.listAgents({ parentId: view.agentId, includeDescendants: true });
    setBelow(list.entries);
  });
  const kill = useAction(async () => {
    await agents.killAgent({ agentId: view.agentId });
    tell(`Killing ${name}.`);
    refreshList();
    onClose();
  });
  useEffect(() => void look.run(), []);

  return (
    <Dialog title={`Kill ${name}?`} onClose={onClose}>
      <p>{sentence(name, below)}</p>
      {below && below.length > 0 ? (
        <ul class="doomed">
          {below.map((entry) => (
            <li key={entry.agentId?.uid}>
              <span class="mono">{pathOf(entry)}</span> <PhaseBadge phase={entry.phase} />
            </li>
          ))}
        </ul>
      ) : null}
      <p>Processes are ended, queued messages are discarded, and it cannot be undone. Logs stay.</p>
      <Problem text={look.problem || kill.problem} />
      <footer>
        <button type="button" onClick={onClose}>
          Let it live
        </button>
        <button
          type="button"
          class="danger solid"
          disabled={kill.busy || below === undefined}
          onClick={kill.run}
        >
          {below && below.length > 0 ? `Kill ${below.length + 1} agents` : "Kill"}
        </button>
      </footer>
    </Dialog>
  );
}

function sentence(name: string, below: readonly AgentListEntry[] | undefined): string {
  if (below === undefined) return "Looking for agents below it …";
  if (below.length === 0) return `${name} dies. There is no live agent below it.`;
  return `${name} dies, and with it ${plural(below.length, "live agent")} below it:`;
}
