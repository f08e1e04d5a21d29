import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { messageOf } from "../state/api.js";
import { Icon } from "./icon.js";

interface Notice {
  readonly id: number;
  readonly tone: "good" | "bad";
  readonly text: string;
}

const notices = signal<readonly Notice[]>([]);
const SHOWN_MS = 6000;
let last = 0;

/** Tells what has happened, for a moment; what went wrong stays until it is put away. */
export function tell(text: string, tone: Notice["tone"] = "good"): void {
  const id = ++last;
  notices.value = [...notices.value, { id, tone, text }].slice(-4);
  if (tone === "good") setTimeout(() => putAway(id), SHOWN_MS);
}

export function tellError(error: unknown): void {
  tell(messageOf(error), "bad");
}

function putAway(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, tone, text }) => (
        <p key={id} class={`notice ${tone}`}>
          {text}
          <button type="button" class="plain icon-only" aria-label="Dismiss" onClick={() => putAway(id)}>
            <Icon name="close" />
          </button>
        </p>
      ))}
    </div>
  );
}

/** Why something could not be done, where it was tried. */
export function Problem({ text }: { text: string }) {
  return text === "" ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="title">{title}</p>
      {children}
    </div>
  );
}
