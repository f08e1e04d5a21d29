import { Provider } from "../../../../gen/retinue/v1/agent_id_pb.js";
import type { Caller } from "../../../../src/domain/caller.js";
import type { KindWrite } from "../../../../src/domain/catalog/kind.js";
import { keyFromRandom } from "../../../../src/domain/key.js";
import type { Scope } from "../../../../src/domain/scope.js";
import { createVault } from "../../../../src/engine/vault.js";

export const NOW = 1_700_000_000_000;
export const PARTS = keyFromRandom(new Uint8Array(42).fill(7));
export const VAULT = createVault(new Uint8Array(32).fill(9));

export function callerWith(scopes: readonly Scope[], fields: Partial<Caller> = {}): Caller {
  return {
    tenant: "codehost_app/local",
    ownerProvider: Provider.CODEHOST_OAUTH,
    account: "alice",
    keyId: "abc",
    keyName: "",
    role: "",
    scopes: new Set(scopes),
    expiresAtMs: undefined,
    ...fields,
  };
}

/** A write that creates `document`, unless `more` says what was there before. */
export function kindWrite<D>(document: D, caller: Caller, more: Partial<KindWrite<D>> = {}): KindWrite<D> {
  return {
    tenant: "codehost_app/other",
    name: "it",
    document,
    before: undefined,
    beforeKey: undefined,
    beforeSealed: undefined,
    caller,
    nowMs: NOW,
    newKey: () => PARTS,
    vault: VAULT,
    find: () => undefined,
    publicUrl: "https://retinue.example.com",
    ...more,
  };
}
