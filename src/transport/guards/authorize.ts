import type { Message } from "@bufbuild/protobuf";
import { CatalogAction, ShareAccess } from "../../../gen/retinue/v1/access_pb.js";
import type { ResourceRef } from "../../../gen/retinue/v1/catalog_service_pb.js";
import { type Caller, requireScope } from "../../domain/caller.js";
import { kindOf } from "../../domain/catalog/kinds/index.js";
import { permissionDenied } from "../../domain/fault.js";
import type { ShareGrant } from "../../domain/key.js";
import type { Scope } from "../../domain/scope.js";
import type { Rpc } from "../rpc.js";

/** Holds the caller's scopes against the rule on the method. Looks nothing up: what exists stays unknown. */
export function authorize(caller: Caller, rpc: Rpc, request: Message): void {
  const { rule } = rpc.access;
  if (caller.share && rule.case !== "anyKey") requireShared(caller.share, rpc);
  switch (rule.case) {
    case "anyKey":
      return;
    case "scope":
      requireScope(caller, rule.value as Scope);
      return;
    case "catalogAction":
      authorizeCatalog(caller, rule.value, (request as Message & { ref?: ResourceRef }).ref?.kind ?? "");
      return;
    case "turnKey":
      if (caller.turn === undefined) throw permissionDenied("only an agent at work on a turn may call this");
      return;
    default:
      throw permissionDenied(`${rpc.action} has no access rule`);
  }
}

/** A link opens what says that links may, and no more than it was made for. */
function requireShared(share: ShareGrant, { action, access }: Rpc): void {
  const { shareLink } = access;
  if (shareLink !== ShareAccess.UNSPECIFIED && share.access >= shareLink) return;
  throw permissionDenied(`a share link that shows ${ShareAccess[share.access]} may not call ${action}`);
}

function authorizeCatalog(caller: Caller, action: CatalogAction, kindName: string): void {
  const kind = kindOf(kindName);
  if (action === CatalogAction.READ) {
    requireScope(caller, kind.readScope);
    return;
  }
  const proposes = action === CatalogAction.WRITE && kind.proposable && caller.scopes.has("catalog:propose");
  if (!proposes) requireScope(caller, kind.writeScope);
}
