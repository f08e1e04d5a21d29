import { computed, signal } from "@preact/signals";

const BASE = "/ui";

const here = () => location.pathname + location.search + location.hash;
const address = signal(here());

addEventListener("popstate", () => {
  address.value = here();
});

/** Where in the page we are, from its own root: `/agents/…`. */
export const path = computed(() => {
  const { pathname } = new URL(address.value, location.origin);
  return pathname.slice(BASE.length).replace(/\/+$/, "") || "/";
});

/** Path elements, decoded. */
export const parts = computed(() => path.value.split("/").slice(1).map(decodeURIComponent));

export const query = computed(() => new URL(address.value, location.origin).searchParams);

export function hrefOf(...elements: string[]): string {
  return [BASE, ...elements.map(encodeURIComponent)].join("/");
}

/** The secret of a shared link: what follows `#`, which browsers send to no server. */
export const fragment = computed(() => new URL(address.value, location.origin).hash.slice(1));

/** The page of an agent; within a shared link, the one that the link shows. */
export function agentHref(uid: string): string {
  return parts.value[0] === "share" ? `${hrefOf("share", uid)}#${fragment.value}` : hrefOf("agents", uid);
}

export function go(href: string, { replace = false } = {}): void {
  if (href === address.peek()) return;
  if (replace) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  address.value = href;
}

/** Keeps links real links, and follows those of the page without loading it again. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element).closest("a");
  if (!link || link.target || link.origin !== location.origin || !link.pathname.startsWith(BASE)) return;
  if (link.hash !== "" && link.pathname === location.pathname) return;
  event.preventDefault();
  go(link.pathname + link.search + link.hash);
}
