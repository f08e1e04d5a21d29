import { signal } from "@preact/signals";

/** Now, to the second; whatever shows an age or a countdown reads it. */
export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);
document.addEventListener("visibilitychange", () => {
  now.value = Date.now();
});
