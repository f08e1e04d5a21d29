import { DiffView } from "../../parts/diff-view.js";

interface ConflictProps {
  mine: string;
  theirs: { readonly text: string; readonly generation: bigint };
  onTake: () => void;
  onOverwrite: () => void;
}

/** Somebody was faster: what differs, and the choice. */
export function Conflict({ mine, theirs, onTake, onOverwrite }: ConflictProps) {
  return (
    <div class="callout asking" role="alert">
      <h2>Somebody saved generation {String(theirs.generation)} meanwhile. Nothing of yours was written.</h2>
      <DiffView before={theirs.text} after={mine} label="From theirs to yours" />
      <p class="choices">
        <button type="button" onClick={onTake}>
          Take theirs, drop mine
        </button>
        <button type="button" class="danger" onClick={onOverwrite}>
          Save mine over generation {String(theirs.generation)}
        </button>
      </p>
    </div>
  );
}
