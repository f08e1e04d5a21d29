import { invalidField } from "../../fault.js";
import { quoted } from "../../name.js";
import type { Document, Kind } from "../kind.js";
import { changeRequest } from "./change-request.js";
import { environment } from "./environment.js";
import { integration } from "./integration.js";
import { model } from "./model.js";
import { persona } from "./persona.js";
import { poolConfig } from "./pool-config.js";
import { schedule } from "./schedule.js";
import { secret } from "./secret.js";
import { serviceProfile } from "./service-profile.js";
import { shareLink } from "./share-link.js";
import { token } from "./token.js";
import { vmProfile } from "./vm-profile.js";
import { workspace } from "./workspace.js";

/** Every kind by its name; a new one is a file beside this one and a line here. */
export const KINDS: ReadonlyMap<string, Kind> = new Map(
  [
    anyDocument(workspace),
    anyDocument(persona),
    anyDocument(environment),
    anyDocument(vmProfile),
    anyDocument(poolConfig),
    anyDocument(model),
    anyDocument(serviceProfile),
    anyDocument(schedule),
    anyDocument(secret),
    anyDocument(token),
    anyDocument(shareLink),
    anyDocument(integration),
    anyDocument(changeRequest),
  ].map((kind) => [kind.name, kind]),
);

/** The kind that a request names. */
export function kindOf(name: string): Kind {
  const kind = KINDS.get(name);
  if (kind !== undefined) return kind;
  const text = name === "" ? "required" : `there is no kind ${quoted(name)}`;
  throw invalidField("ref.kind", `${text}; known kinds: ${[...KINDS.keys()].join(", ")}`, "UNKNOWN_KIND");
}

/**
 * A kind as the catalog handles it, which looks into no document itself. Sound because a document only ever
 * meets the kind whose schema it was read with.
 */
function anyDocument<D extends Document>(kind: Kind<D>): Kind {
  return kind as unknown as Kind;
}
