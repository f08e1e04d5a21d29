import { type AdmitTenant, onlyTenant } from "../engine/tenancy.js";
import type { Runner } from "../runner/runner.js";
import type { Store } from "../storage/store.js";
import { type Config, ConfigError, isLoopbackHost } from "./config.js";

const REMEDY =
  "install bubblewrap (bwrap) and allow it to make user namespaces, or say --allow-unsandboxed: every agent can " +
  "then read what this server can, keys and other agents' files included";

/** Agents that see everything are for the person whose machine it is: not for strangers, nor for two tenants. */
export async function admitTenants(
  { isolation }: Pick<Runner, "isolation">,
  config: Pick<Config, "host" | "allowUnsandboxed">,
  store: Pick<Store, "tenants">,
): Promise<AdmitTenant> {
  if (isolation !== "none" || config.allowUnsandboxed) return () => {};
  if (!isLoopbackHost(config.host)) {
    throw new ConfigError(
      `--host ${config.host} can be reached by others, and bubblewrap does not work here: ${REMEDY}`,
    );
  }
  const tenants = await store.tenants();
  if (tenants.length > 1) {
    throw new ConfigError(
      `the data belongs to ${tenants.length} tenants (${tenants.slice(0, 3).join(", ")}${tenants.length > 3 ? ", …" : ""}), ` +
        `and bubblewrap does not work here: ${REMEDY}`,
    );
  }
  return onlyTenant(tenants[0] as string);
}
