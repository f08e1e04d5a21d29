import type { Provider } from "../../../gen/retinue/v1/agent_id_pb.js";
import type { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import { type Caller, providerName, providerOf } from "../caller.js";
import { invalidField } from "../fault.js";
import { quoted } from "../name.js";
import { type Owner, requireOwner } from "./owner.js";
import { isTerminal } from "./phase.js";

/** Whose agents are listed; undefined: every account's. */
export type AccountFilter = Owner | undefined;

/**
 * '' the caller's own; `*` every account; a bare name under the caller's provider; `<provider_name>/<account>`
 * under that one, which is the only way across providers.
 */
export function parseAccountFilter(account: string, caller: Caller): AccountFilter {
  const owner = namedOwner(account, caller);
  requireOwner(caller, owner);
  return owner;
}

/** Whose agents a filter is about, permitted or not. */
export function namedOwner(account: string, caller: Caller): AccountFilter {
  if (account === "*") return undefined;
  if (account === "") return { ownerProvider: caller.ownerProvider, account: caller.account };
  const slash = account.indexOf("/");
  if (slash === -1) return { ownerProvider: caller.ownerProvider, account };
  const ownerProvider: Provider | undefined = providerOf(account.slice(0, slash));
  if (ownerProvider === undefined) {
    const text = `${quoted(account.slice(0, slash))} is no provider; use codehost_oauth, codehost_app, idp_oidc or service_profile`;
    throw invalidField("account", text, "PROVIDER_UNKNOWN");
  }
  const name = account.slice(slash + 1);
  if (name === "" || name === "*") {
    const text = `name one account after ${providerName(ownerProvider)}/; '*' stands alone`;
    throw invalidField("account", text, "ACCOUNT_INVALID");
  }
  return { ownerProvider, account: name };
}

/** Terminal agents only widen the phases, never the accounts. */
export function isListed(
  agent: Owner & { readonly phase: Phase },
  filter: AccountFilter,
  includeTerminal: boolean,
): boolean {
  if (isTerminal(agent.phase) && !includeTerminal) return false;
  return (
    filter === undefined || (agent.ownerProvider === filter.ownerProvider && agent.account === filter.account)
  );
}
