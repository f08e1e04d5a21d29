import type { PermissionOption, RequestPermissionRequest } from "@agentclientprotocol/sdk/unstable";
import { isOwnTool } from "../agent-tools.js";
import type { Decision, PermissionPolicy, PermissionRequest } from "../runner.js";

/** The agent may always talk back; whatever else it asks leave for is refused. */
export const allowOwnTools: PermissionPolicy = (request) => (isOwnTool(request) ? "allow" : "reject");

/** `toldName`: what the program has called the tool before. */
export function permissionRequest(
  { toolCall }: RequestPermissionRequest,
  toldName: string,
): PermissionRequest {
  return {
    toolCallId: toolCall.toolCallId,
    tool: toolCall.name ?? toldName,
    title: toolCall.title ?? "",
    kind: toolCall.kind ?? "other",
    input: toolCall.rawInput,
  };
}

/** By kind, never by id: those differ between programs. Once rather than for good: the policy decides each time. */
export function chooseOption(options: readonly PermissionOption[], decision: Decision): string | undefined {
  const kinds = decision === "allow" ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  for (const kind of kinds) {
    const option = options.find((candidate) => candidate.kind === kind);
    if (option !== undefined) return option.optionId;
  }
  return undefined;
}
