import type { Integration } from "../../../gen/retinue/v1/catalog_pb.js";
import { integration, signingSecret } from "../../domain/catalog/kinds/integration.js";
import { secretPlace } from "../../domain/catalog/kinds/secret.js";
import type { Vault } from "../../domain/vault.js";
import type { Store } from "../../storage/store.js";
import { documentOf } from "./values.js";

/** Secrets in the clear, for the server's own use: in the environment of a process, to sign a delivery. */
export interface Secrets {
  /** The value of a `secret` document; undefined: there is none. */
  secretValue(tenant: string, name: string): Promise<string | undefined>;
  /** The key that an integration signs and checks with, `whsec_…`; undefined: there is no such integration. */
  signingSecret(tenant: string, name: string): Promise<string | undefined>;
}

export function createSecrets(store: Store, vault: Vault): Secrets {
  return {
    async secretValue(tenant, name) {
      const sealed = await store.sealed(tenant, name);
      return sealed && vault.open(secretPlace(tenant, name), sealed);
    },

    async signingSecret(tenant, name) {
      const stored = await store.resource({ tenant, kind: integration.name, name });
      if (stored === undefined || stored.deleted) return undefined;
      const { signingNonce } = documentOf(integration, stored) as Integration;
      return signingSecret(vault, tenant, name, signingNonce);
    },
  };
}
