import { useState } from "preact/hooks";
import { useAction } from "../../parts/action.js";
import { Dialog } from "../../parts/dialog.js";
import { SelectField, TextField } from "../../parts/field.js";
import { Problem } from "../../parts/notice.js";
import { Once } from "../../parts/once.js";
import { writeDocument } from "../../state/documents.js";
import { me } from "../../state/session.js";

const ROLES = ["viewer", "member", "operator", "admin", "runner"];

/** Makes a key, and shows it once. */
export function NewKey({ onClose }: { onClose: () => void }) {
  const [form, setForm] = useState({ name: "", account: "", role: "member", days: "" });
  const [key, setKey] = useState("");
  const set = (field: keyof typeof form) => (value: string) => setForm({ ...form, [field]: value });
  const make = useAction(async () => {
    const { document } = await writeDocument({
      kind: "token",
      name: form.name.trim(),
      document: {
        ...(form.account === "" ? {} : { account: form.account }),
        role: form.role,
        ...(form.days === ""
          ? {}
          : { expiresAt: new Date(Date.now() + Number(form.days) * 86_400_000).toISOString() }),
      },
      ifGenerationMatch: 0n,
    });
    setKey(String(document.key ?? ""));
  });
  if (key !== "") return <Once title="API key" secret={key} onClose={onClose} />;
  return (
    <Dialog title="New key" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void make.run();
        }}
      >
        <TextField label="Name" value={form.name} onChange={set("name")} required mono />
        <div class="columns">
          <TextField
            label="Account"
            value={form.account}
            onChange={set("account")}
            placeholder={me.value?.account ?? ""}
          />
          <SelectField
            label="Role"
            value={form.role}
            onChange={set("role")}
            options={ROLES.map((r) => [r, r])}
          />
          <TextField
            label="Days"
            type="number"
            value={form.days}
            onChange={set("days")}
            placeholder="no end"
          />
        </div>
        <Problem text={make.problem} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={make.busy}>
            Make the key
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
