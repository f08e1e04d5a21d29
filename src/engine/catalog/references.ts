import { Code } from "../../../gen/google/rpc/code_pb.js";
import type { Document, Kind } from "../../domain/catalog/kind.js";
import { kindOf } from "../../domain/catalog/kinds/index.js";
import { Fault } from "../../domain/fault.js";
import type { ResourceKey, StoredReference } from "../../storage/store.js";
import { documentOf, type Look, liveOf } from "./values.js";

/** As many as a person reads. */
export const REFERRERS_SHOWN = 20;

/** What the document names, to be stored with it; refused where one of them does not exist. */
export function requireReferences(
  kind: Kind,
  { tenant }: ResourceKey,
  document: Document,
  look: Look,
): readonly StoredReference[] | undefined {
  const named = kind.references?.(document);
  if (named === undefined) return undefined;
  const missing = named.filter((to) => find(look, tenant, kindOf(to.kind), to.name) === undefined);
  if (missing.length > 0) {
    const preconditions = missing.map(({ field, kind, name }) => ({
      type: "REFERENCE_NOT_FOUND",
      subject: `${kind}/${name}`,
      description: `payload.${field}: there is no ${kind} ${name}`,
    }));
    const text = preconditions.map(({ description }) => description).join("; ");
    throw new Fault(Code.FAILED_PRECONDITION, "REFERENCE_NOT_FOUND", text, { preconditions });
  }
  const stored = named.map(({ kind, name }) => ({ kind, name, builtin: kindOf(kind).builtins.has(name) }));
  return [...new Map(stored.map((to) => [`${to.kind}/${to.name}`, to])).values()];
}

/** Refused while other documents name this one; what shows a builtin again when it goes can go. */
export function requireUnreferenced(kind: Kind, ref: ResourceKey, look: Look): void {
  if (kind.builtins.has(ref.name)) return;
  const referrers = look.referrers(ref);
  if (referrers.length === 0) return;
  const subject = `${ref.kind}/${ref.name}`;
  const shown = referrers.slice(0, REFERRERS_SHOWN).map(({ kind, name }) => `${kind}/${name}`);
  const more = referrers.length > shown.length ? " and others" : "";
  throw new Fault(
    Code.FAILED_PRECONDITION,
    "REFERENCED",
    `${subject} is named by ${shown.join(", ")}${more}: change or delete them first`,
    {
      preconditions: shown.map((referrer) => ({
        type: "REFERENCED",
        subject: referrer,
        description: `names ${subject}`,
      })),
    },
  );
}

/** A document as it stands, or the builtin of that name. */
export function find<D extends Document>(
  look: Look,
  tenant: string,
  kind: Kind<D>,
  name: string,
): D | undefined {
  if (name === "") return undefined;
  const live = liveOf(look.value({ tenant, kind: kind.name, name }));
  return live ? documentOf(kind, live) : kind.builtins.get(name);
}
