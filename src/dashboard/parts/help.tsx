import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { go, hrefOf } from "../state/route.js";
import { may } from "../state/session.js";
import { Dialog } from "./dialog.js";

const open = signal(false);

const KEYS = [
  ["/", "search"],
  ["g a", "agents"],
  ["g i", "inbox"],
  ["g c", "catalog"],
  ["n", "spawn an agent"],
  ["↑ ↓ ← →", "move in the tree, close and open"],
  ["Enter", "open the agent"],
  ["Ctrl Enter", "send the message"],
  ["?", "this list"],
] as const;

const AFTER_G: Readonly<Record<string, string>> = { a: "agents", i: "inbox", c: "catalog", p: "pools" };

/** Keys that work everywhere but in a field. */
export function Help() {
  useEffect(() => {
    let afterG = false;
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const place = afterG ? AFTER_G[event.key] : undefined;
      afterG = event.key === "g";
      if (place !== undefined) go(hrefOf(place));
      else if (event.key === "?") open.value = true;
      else if (event.key === "n" && may("agents:spawn")) go(hrefOf("spawn"));
      else if (event.key === "/") {
        const search = document.querySelector<HTMLInputElement>("input[type=search]");
        if (search === null) return;
        event.preventDefault();
        search.focus();
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);

  if (!open.value) return null;
  return (
    <Dialog
      title="Keys"
      onClose={() => {
        open.value = false;
      }}
    >
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key.split(" ").map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, dialog") !== null;
}
