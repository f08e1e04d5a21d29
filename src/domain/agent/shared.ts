import type { AgentId } from "../../../gen/retinue/v1/agent_id_pb.js";
import { permissionDenied } from "../fault.js";
import type { ShareGrant } from "../key.js";

/**
 * Whether a share link may look at what is asked for, told by names alone: what is not shown is refused whether it
 * exists or not. Below the agent only where the link says so.
 */
export function requireShared(share: ShareGrant, path: readonly string[], workspace: string): void {
  const within = share.path.every((element, i) => path[i] === element);
  const deepEnough = share.includeDescendants || path.length === share.path.length;
  const here = workspace === "" || workspace === share.workspace;
  if (within && deepEnough && here) return;
  throw permissionDenied(`the share link shows ${share.path.join("/")}, not ${path.join("/")}`);
}

/** Lists are of what is below an agent: a link that does not show that has nothing to list. */
export function requireSharedList(share: ShareGrant, parentId: AgentId | undefined): void {
  if (share.includeDescendants && parentId !== undefined) return;
  throw permissionDenied(
    share.includeDescendants
      ? `the share link lists agents below ${share.path.join("/")}: name a parentId`
      : `the share link shows ${share.path.join("/")} and nothing below it`,
  );
}
