import { useState } from "preact/hooks";
import { Dialog } from "./dialog.js";
import { Icon } from "./icon.js";

interface OnceProps {
  title: string;
  secret: string;
  onClose: () => void;
}

/** A secret that is shown now and never again. */
export function Once({ title, secret, onClose }: OnceProps) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(secret);
    setCopied(true);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p>Copy it now: only a hash of it is stored, and it is not shown again.</p>
      <div class="secret">
        <input
          class="mono"
          readOnly
          aria-label={title}
          value={secret}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" onClick={() => void copy()}>
          <Icon name={copied ? "check" : "copy"} />
          {copied ? "Copied" : "Copy"}
        </button>
      </div>
      <footer>
        <button type="button" class="primary" onClick={onClose}>
          I have it
        </button>
      </footer>
    </Dialog>
  );
}
