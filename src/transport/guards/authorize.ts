import type { Message } from "@bufbuild/protobuf";
import { CatalogAction } from "../../../gen/retinue/v1/access_pb.js";
import type { ResourceRef } from "../../../gen/retinue/v1/catalog_service_pb.js";
import { type Caller, requireScope } from "../../domain/caller.js";
import { kindOf } from "../../domain/catalog/kinds/index.js";
import { permissionDenied } from "../../domain/fault.js";
import type { Scope } from "../../domain/scope.js";
import type { Rpc } from "../rpc.js";

/** Holds the caller's scopes against the rule on the method. Looks nothing up: what exists stays unknown. */
export function authorize(caller: Caller, rpc: Rpc, request: Message): void {
  const { rule } = rpc.access;
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

function authorizeCatalog(caller: Caller, action: CatalogAction, kindName: string): void {
  const kind = kindOf(kindName);
  if (action === CatalogAction.READ) {
    requireScope(caller, kind.readScope);
    return;
  }
  const proposes = action === CatalogAction.WRITE && kind.proposable && caller.scopes.has("catalog:propose");
  if (!proposes) requireScope(caller, kind.writeScope);
}
