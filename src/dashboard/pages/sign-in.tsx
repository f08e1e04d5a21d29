import { useState } from "preact/hooks";
import { TextField } from "../parts/field.js";
import { Problem } from "../parts/notice.js";
import { ThemeSwitch } from "../parts/theme-switch.js";
import { messageOf } from "../state/api.js";
import { refusal } from "../state/key.js";
import { signIn } from "../state/session.js";

export function SignIn() {
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn(key.trim());
    } catch (error) {
      setProblem(messageOf(error));
      setBusy(false);
    }
  }

  return (
    <main class="alone">
      <form class="card sign-in" onSubmit={submit}>
        <header>
          <img src="/ui/icon.svg" alt="" width="36" height="36" />
          <h1>Retinue</h1>
          <ThemeSwitch />
        </header>
        <Problem text={problem || refusal.value} />
        <TextField
          label="API key"
          type="password"
          value={key}
          onChange={setKey}
          placeholder="rtn_…"
          hint="Kept in this tab only, until you close it or sign out."
          required
          mono
        />
        <button type="submit" class="primary" disabled={busy}>
          Sign in
        </button>
        <p class="hint">
          A new server writes its first key to <code>data/admin.key</code>.
        </p>
      </form>
    </main>
  );
}
