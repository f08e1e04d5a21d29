import { Code } from "../../../gen/google/rpc/code_pb.js";
import { type AgentId, Provider } from "../../../gen/retinue/v1/agent_id_pb.js";
import { type Caller, providerName, resolveTenant } from "../caller.js";
import { Fault, permissionDenied } from "../fault.js";
import { requireFound } from "./phase.js";

/** Whose an agent is, within its tenant. */
export interface Owner {
  readonly ownerProvider: Provider;
  readonly account: string;
}

/** Tenant and owner that a request is about: what it leaves out is the caller's, what it says stays as said. */
export function resolveOwner(
  caller: Caller,
  agentId: AgentId | undefined,
): Owner & { readonly tenant: string } {
  const tenant = resolveTenant(caller, agentId?.tenant);
  const asked = agentId?.ownerProvider ?? Provider.UNSPECIFIED;
  const owner = {
    tenant,
    ownerProvider: asked === Provider.UNSPECIFIED ? caller.ownerProvider : asked,
    account: agentId?.account === undefined || agentId.account === "" ? caller.account : agentId.account,
  };
  requireOwner(caller, owner);
  return owner;
}

export function mayActFor(caller: Caller, owner: Owner | undefined): boolean {
  return isOwn(caller, owner) || caller.scopes.has("accounts:all");
}

/** The caller itself, or the service profile that lists it. */
function isOwn(caller: Caller, owner: Owner | undefined): boolean {
  if (owner?.ownerProvider === Provider.SERVICE_PROFILE && owner.account === caller.actsAs) return true;
  return owner?.ownerProvider === caller.ownerProvider && owner.account === caller.account;
}

/** To spawn is to act as the owner: accounts:all is not enough for a service profile, which says itself who may. */
export function requireSpawner(caller: Caller, owner: Owner): void {
  if (owner.ownerProvider !== Provider.SERVICE_PROFILE || isOwn(caller, owner)) return;
  throw permissionDenied(
    `only the callers that the service profile lists may act as service_profile/${owner.account}`,
  );
}

/** Permits the caller's own account; any other needs accounts:all. Comes before every look-up. */
export function requireOwner(caller: Caller, owner: Owner | undefined): void {
  if (mayActFor(caller, owner)) return;
  const whose =
    owner === undefined ? "every account" : `${providerName(owner.ownerProvider)}/${owner.account}`;
  throw permissionDenied(`the key may not act on agents of ${whose}: it lacks the scope accounts:all`, {
    scope: "accounts:all",
  });
}

/** An incarnation at a path, as the store finds it. */
export interface Incarnation {
  readonly uid: string;
  readonly workspace: string;
  /** The newest of its workspace and path; older ones can only be read. */
  readonly current: boolean;
}

/**
 * The agent that a request means, among all incarnations of one owner at one path. Without a workspace there
 * must be one agent; with an old uid there is one to read, and none to change.
 */
export function resolveIncarnation<T extends Incarnation>(
  found: readonly T[],
  asked: { readonly path: readonly string[]; readonly workspace: string; readonly uid: string },
  access: "read" | "change",
): T {
  const here = found.filter(({ workspace }) => asked.workspace === "" || workspace === asked.workspace);
  if (asked.uid !== "") {
    const named = here.find(({ uid, current }) => uid === asked.uid && (current || access === "read"));
    return requireFound(named, asked.path);
  }
  const current = here.filter((incarnation) => incarnation.current);
  if (current.length > 1) {
    const workspaces = current
      .map(({ workspace }) => workspace)
      .sort()
      .join(", ");
    const description = `required: there are agents ${asked.path.join("/")} in the workspaces ${workspaces}`;
    throw new Fault(Code.INVALID_ARGUMENT, "WORKSPACE_AMBIGUOUS", `agentId.workspace: ${description}`, {
      metadata: { workspaces },
      violations: [{ field: "agentId.workspace", description }],
    });
  }
  return requireFound(current[0], asked.path);
}
