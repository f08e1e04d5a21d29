import { StopTurnMode } from "../../../../gen/retinue/v1/agent_service_pb.js";
import { useAction } from "../../parts/action.js";
import { Dialog } from "../../parts/dialog.js";
import { Problem, tell } from "../../parts/notice.js";
import type { AgentView } from "../../state/agent-view.js";
import { agents } from "../../state/api.js";

interface StopDialogProps {
  view: AgentView;
  runId: bigint;
  onClose: () => void;
}

/** Stops exactly the run that was on the screen: a newer one is not touched. */
export function StopDialog({ view, runId, onClose }: StopDialogProps) {
  const { busy, problem, run } = useAction(async (mode: StopTurnMode) => {
    await agents.stopTurn({ agentId: view.agentId, runId, mode });
    tell(`Asked run ${runId} to stop.`);
    onClose();
  });
  return (
    <Dialog title={`Stop run ${runId}?`} onClose={onClose}>
      <p>
        Only run {String(runId)} is stopped. The agent stays alive, its children are untouched, and what is
        queued runs next.
      </p>
      <Problem text={problem} />
      <footer>
        <button type="button" onClick={onClose}>
          Leave it running
        </button>
        <button type="button" class="danger" disabled={busy} onClick={() => run(StopTurnMode.KILL)}>
          Stop at once, lose its last words
        </button>
        <button type="button" class="primary" disabled={busy} onClick={() => run(StopTurnMode.INTERRUPT)}>
          Interrupt
        </button>
      </footer>
    </Dialog>
  );
}
