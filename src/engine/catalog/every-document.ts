import type { Store, StoredResource } from "../../storage/store.js";

const PAGE = 200;

/** Goes through all live documents of a kind, of every tenant. */
export async function everyDocument(
  store: Store,
  kind: string,
  each: (stored: StoredResource) => Promise<void>,
): Promise<void> {
  for (const tenant of await store.tenants()) {
    for (let afterName = ""; ; ) {
      const page = await store.resources({ tenant, kind, afterName, limit: PAGE });
      for (const stored of page) await each(stored);
      if (page.length < PAGE) break;
      afterName = page.at(-1)?.name ?? "";
    }
  }
}
