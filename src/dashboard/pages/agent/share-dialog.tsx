import { Dialog } from "../../parts/dialog.js";
import type { AgentView } from "../../state/agent-view.js";

export function ShareDialog({ view, onClose }: { view: AgentView; onClose: () => void }) {
  return (
    <Dialog title="Share" onClose={onClose}>
      <p>{view.uid}</p>
    </Dialog>
  );
}
