import { canonicalJson } from "../../domain/catalog/document.js";
import type { Document, Kind } from "../../domain/catalog/kind.js";
import type { ResourceKey } from "../../storage/store.js";
import type { Act } from "../audit.js";
import { type Moment, nextVersion } from "./put.js";
import { type CatalogDecision, type CatalogValue, documentOf, liveOf } from "./values.js";

export interface AmendRequest<D extends Document> {
  readonly ref: ResourceKey;
  readonly kind: Kind<D>;
  readonly act: Act;
  /** Pure: it may be asked several times. */
  readonly change: (document: D) => D;
}

/** What the server writes into a document of its own accord: a version like any other, with its record in the audit. */
export function decideAmend<D extends Document>(
  { ref, kind, act, change }: AmendRequest<D>,
  value: CatalogValue,
  moment: Moment,
): CatalogDecision<void> {
  const live = liveOf(value);
  const json = live && canonicalJson(kind, change(documentOf(kind, live)));
  if (live === undefined || json === undefined || json === live.document) {
    return { values: [], changes: [], reply: undefined };
  }
  const stored = nextVersion({ ref, act }, live, json, moment.nowMs);
  const { justification } = act;
  const audit = moment.auditor.done(act, {
    tenant: ref.tenant,
    target: `${ref.kind}/${ref.name}`,
    generationBefore: live.generation,
    generationAfter: stored.generation,
  });
  return {
    values: [{ ...value, stored }],
    changes: [{ type: "resource", resource: stored, justification, ifGeneration: live.generation }, audit],
    reply: undefined,
  };
}
