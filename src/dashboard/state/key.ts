import { signal } from "@preact/signals";

const NAME = "retinue.key";

/** The key of this tab. Session storage ends with the tab, and no other tab sees it. */
export const key = signal(sessionStorage.getItem(NAME) ?? "");
/** Why the last key is not used any more. */
export const refusal = signal("");

export function keepKey(text: string): void {
  sessionStorage.setItem(NAME, text);
  refusal.value = "";
  key.value = text;
}

export function dropKey(): void {
  // The key of a shared link was never kept, and does not sign anybody out.
  if (sessionStorage.getItem(NAME) === key.peek()) sessionStorage.removeItem(NAME);
  key.value = "";
}

export function keyRefused(why: string): void {
  dropKey();
  refusal.value = why;
}
