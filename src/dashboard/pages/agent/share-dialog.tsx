import { toJson } from "@bufbuild/protobuf";
import { useState } from "preact/hooks";
import { AgentIdSchema } from "../../../../gen/retinue/v1/agent_id_pb.js";
import { useAction } from "../../parts/action.js";
import { Dialog } from "../../parts/dialog.js";
import { SelectField } from "../../parts/field.js";
import { Problem } from "../../parts/notice.js";
import { Once } from "../../parts/once.js";
import type { AgentView } from "../../state/agent-view.js";
import { mintName, writeDocument } from "../../state/documents.js";

const DAY_MS = 86_400_000;

/** Makes a link that shows this agent, and nothing else, to whoever has it. */
export function ShareDialog({ view, onClose }: { view: AgentView; onClose: () => void }) {
  const [access, setAccess] = useState("SHARE_ACCESS_TIMELINE");
  const [includeDescendants, setDescendants] = useState(true);
  const [days, setDays] = useState("7");
  const [url, setUrl] = useState("");
  const share = useAction(async () => {
    const agentId = view.status.peek()?.agentId;
    const { document } = await writeDocument({
      kind: "share-link",
      name: mintName("share"),
      document: {
        agentId: agentId && toJson(AgentIdSchema, agentId),
        access,
        includeDescendants,
        expiresAt: new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
      },
      ifGenerationMatch: 0n,
    });
    setUrl(String(document.url ?? ""));
  });
  if (url !== "") return <Once title="Link" secret={url} onClose={onClose} />;
  return (
    <Dialog title="Share" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void share.run();
        }}
      >
        <p>Whoever has the link can look, and can do nothing. It can be revoked under Keys.</p>
        <div class="columns">
          <SelectField
            label="Shows"
            value={access}
            onChange={setAccess}
            options={[
              ["SHARE_ACCESS_TIMELINE", "everything"],
              ["SHARE_ACCESS_STATUS", "no conversation"],
            ]}
          />
          <SelectField
            label="Works for"
            value={days}
            onChange={setDays}
            options={[
              ["1", "a day"],
              ["7", "a week"],
              ["30", "30 days"],
            ]}
          />
        </div>
        <label class="check">
          <input
            type="checkbox"
            checked={includeDescendants}
            onChange={(event) => setDescendants(event.currentTarget.checked)}
          />
          The agents below it, too
        </label>
        <Problem text={share.problem} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={share.busy}>
            Make a link
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
