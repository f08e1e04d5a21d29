import { allows, fingerprintOf, type ToolUse } from "../../domain/agent/permission.js";
import { isOwnTool } from "../../runner/agent-tools.js";
import type { PermissionPolicy } from "../../runner/runner.js";

export interface PermissionOptions {
  /** The workspace's allow list. */
  readonly allow: readonly string[];
  /** Fingerprint of what the caller allowed, once, for this run. */
  readonly granted: string | undefined;
  /** Told of the first thing that was refused. */
  readonly refused: (use: ToolUse, title: string) => void;
}

/** The policy of one turn: our own tools, the allow list, what was granted; else the caller is asked. */
export function permissionPolicy({ allow, granted, refused }: PermissionOptions): PermissionPolicy {
  let left = granted;
  let asked = false;
  return (request) => {
    const { tool, kind, input, title } = request;
    const use = { tool, kind, input };
    if (isOwnTool(request) || allows(allow, use)) return "allow";
    if (left !== undefined && fingerprintOf(use) === left) {
      left = undefined;
      return "allow";
    }
    if (!asked) refused(use, title);
    asked = true;
    return "reject";
  };
}
