import { failedPrecondition } from "../domain/fault.js";
import type { Catalog } from "./catalog/catalog.js";

/** Throws FAILED_PRECONDITION for a tenant that this server must not hold anything of. */
export type AdmitTenant = (tenant: string) => void;

/**
 * Agents without a sandbox can read whatever the server can: such a server holds one tenant, unless its operator
 * has said that this is fine.
 */
export function onlyTenant(only: string): AdmitTenant {
  return (tenant) => {
    if (tenant === only) return;
    throw failedPrecondition(
      "UNSANDBOXED",
      tenant,
      `agents run without a sandbox here, so that this server serves ${only} alone and not ${tenant}: ` +
        "install bubblewrap, or start it with --allow-unsandboxed",
    );
  };
}

/** A catalog in which nothing of other tenants can come to be. */
export function admitting(catalog: Catalog, admit: AdmitTenant): Catalog {
  return {
    ...catalog,
    async put(request) {
      admit(request.ref.tenant);
      return catalog.put(request);
    },
    async propose(request) {
      admit(request.ref.tenant);
      return catalog.propose(request);
    },
  };
}
