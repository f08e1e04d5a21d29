import type { PermissionOption, RequestPermissionRequest } from "@agentclientprotocol/sdk/unstable";
import { MCP_SERVER } from "../agent-tools.js";
import type { Decision, PermissionPolicy, PermissionRequest } from "../runner.js";

/** Matched whole, so that no command line or title of the model's making passes for one of our tools. */
const OWN_TOOL = new RegExp(`^mcp__${MCP_SERVER}__[a-z_]+$`);

/** The agent may always talk back; whatever else it asks leave for is refused. */
export const allowOwnTools: PermissionPolicy = ({ tool, title, kind }) =>
  OWN_TOOL.test(tool) || (OWN_TOOL.test(title) && kind === "other") ? "allow" : "reject";

export function permissionRequest({ toolCall }: RequestPermissionRequest): PermissionRequest {
  return {
    toolCallId: toolCall.toolCallId,
    tool: toolCall.name ?? "",
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
