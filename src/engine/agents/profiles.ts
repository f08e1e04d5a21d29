import { Provider, type Tenant } from "../../../gen/retinue/v1/agent_id_pb.js";
import type { ServiceProfile } from "../../../gen/retinue/v1/catalog_pb.js";
import type { Owner } from "../../domain/agent/owner.js";
import { type Caller, resolveTenant } from "../../domain/caller.js";
import { isCallerOf, serviceProfile } from "../../domain/catalog/kinds/service-profile.js";
import type { Store } from "../../storage/store.js";
import { documentOf } from "../catalog/values.js";

/** What of a request says whose agents it is about. */
type Named = Partial<Owner> & { readonly tenant?: Tenant | undefined };

/**
 * The caller, who may act as the service profile that the request names if that profile lists them. Looked up for each
 * request: whoever is taken off the list is off it at once.
 */
export async function withProfile(store: Store, caller: Caller, named: Named | undefined): Promise<Caller> {
  const { ownerProvider, account: name = "" } = named ?? {};
  if (ownerProvider !== Provider.SERVICE_PROFILE || name === "") return caller;
  const tenant = resolveTenant(caller, named?.tenant);
  const stored = await store.resource({ tenant, kind: serviceProfile.name, name });
  const profile =
    stored && !stored.deleted ? (documentOf(serviceProfile, stored) as ServiceProfile) : undefined;
  return isCallerOf(caller, name, profile) ? { ...caller, actsAs: name } : caller;
}
