import { useEffect, useState } from "preact/hooks";
import { useAction } from "../../parts/action.js";
import { DiffView } from "../../parts/diff-view.js";
import { TextField } from "../../parts/field.js";
import { Problem, tell } from "../../parts/notice.js";
import { catalog } from "../../state/api.js";
import { type Document, documentOf } from "../../state/documents.js";
import { may } from "../../state/session.js";

interface DecideProps {
  name: string;
  document: Document;
  onDecided: () => void;
}

/** A proposed write: what it would change, and yes or no. */
export function Decide({ name, document, onDecided }: DecideProps) {
  const [note, setNote] = useState("");
  const [current, setCurrent] = useState<Document>({});
  const target = document.target as { kind: string; name: string };
  useEffect(() => {
    catalog.getResource({ ref: target }).then(
      ({ payload }) => setCurrent(documentOf(payload)),
      () => setCurrent({}),
    );
  }, []);
  const decide = useAction(async (approve: boolean) => {
    if (approve) await catalog.approveChangeRequest({ name, note });
    else await catalog.rejectChangeRequest({ name, note });
    tell(approve ? "Approved and written." : "Rejected.");
    onDecided();
  });
  const proposed = documentOf(Uint8Array.from(atob(String(document.payload ?? "")), (c) => c.charCodeAt(0)));
  const { meta: _meta, ...before } = current;
  const mask = String(document.updateMask ?? "");
  const text = (value: Document) => JSON.stringify(value, null, 2);
  return (
    <>
      <h2>
        {target.kind}/{target.name}
        {mask === "" ? "" : `: only ${mask}`}
      </h2>
      <DiffView
        before={text(before)}
        after={text(proposed)}
        label="From the document as it is to the proposal"
      />
      <Problem text={decide.problem} />
      {document.state === "CHANGE_REQUEST_STATE_OPEN" ? (
        <footer>
          <TextField label="Note" value={note} onChange={setNote} placeholder="a word to the proposer" />
          <button type="button" class="danger" disabled={decide.busy} onClick={() => decide.run(false)}>
            Reject
          </button>
          {may("catalog:write") ? (
            <button type="button" class="primary" disabled={decide.busy} onClick={() => decide.run(true)}>
              Approve
            </button>
          ) : null}
        </footer>
      ) : null}
    </>
  );
}
