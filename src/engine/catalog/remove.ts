import { actorOf } from "../../domain/caller.js";
import type { Kind } from "../../domain/catalog/kind.js";
import { revokeKey } from "../../domain/catalog/kinds/token.js";
import { failedPrecondition } from "../../domain/fault.js";
import type { Change, ResourceKey, StoredResource } from "../../storage/store.js";
import type { Act } from "../audit.js";
import { checkGeneration, type Moment, resourceNotFound } from "./put.js";
import { requireUnreferenced } from "./references.js";
import { type CatalogDecision, type CatalogValue, documentOf, liveOf } from "./values.js";

export interface RemoveRequest {
  readonly ref: ResourceKey;
  readonly kind: Kind;
  readonly ifGeneration: bigint | undefined;
  readonly act: Act;
}

/** Deleting is a write that leaves a tombstone; its key or value dies in the same commit. */
export function decideRemove(
  { ref, kind, ifGeneration, act }: RemoveRequest,
  value: CatalogValue,
  moment: Moment,
): CatalogDecision<{ generation: number }> {
  const live = liveOf(value);
  if (live && kind.isFor?.(documentOf(kind, live), act.caller) === false) throw resourceNotFound(ref);
  checkGeneration(ref, ifGeneration, live?.generation ?? 0);
  if (live === undefined) {
    if (!kind.builtins.has(ref.name)) throw resourceNotFound(ref);
    const subject = `${ref.kind}/${ref.name}`;
    throw failedPrecondition(
      "BUILTIN",
      subject,
      `${subject} is a builtin that nobody has written over: it stays`,
    );
  }
  requireUnreferenced(kind, ref, moment.look);
  const tombstone: StoredResource = {
    ...live,
    generation: live.generation + 1,
    deleted: true,
    document: "",
    updatedAtMs: moment.nowMs,
    updatedBy: actorOf(act.caller),
  };
  const changes: Change[] = [
    {
      type: "resource",
      resource: tombstone,
      justification: act.justification,
      ifGeneration: live.generation,
      references: kind.references && [],
      ifUnreferenced: !kind.builtins.has(ref.name),
    },
  ];
  if (value.sealed) changes.push({ type: "sealed", tenant: ref.tenant, name: ref.name, sealed: undefined });
  if (value.key) changes.push({ type: "key", key: revokeKey(value.key) });
  changes.push(
    moment.auditor.done(act, {
      tenant: ref.tenant,
      target: `${ref.kind}/${ref.name}`,
      generationBefore: live.generation,
      generationAfter: tombstone.generation,
    }),
  );
  return {
    values: [{ stored: tombstone }],
    changes,
    reply: { generation: tombstone.generation },
  };
}
