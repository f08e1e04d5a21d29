import { type JsonRecord, record, text } from "../acp/json.js";
import type { Decision, PermissionRequest } from "../runner.js";
import { plainCommand, toolItem } from "./items.js";

/** A question of codex that wants an answer at once, and how to give it. */
export interface Approval {
  readonly request: PermissionRequest;
  answer(decision: Decision | "cancelled"): unknown;
}

const VERDICT = { allow: "accept", reject: "decline", cancelled: "cancel" } as const;

/** Undefined for a question that nobody here can answer. `itemOf`: what codex has told of the call it asks about. */
export function approvalOf(
  method: string,
  params: JsonRecord,
  itemOf: (id: string) => JsonRecord | undefined,
): Approval | undefined {
  const toolCallId = text(params.itemId);
  switch (method) {
    case "item/commandExecution/requestApproval": {
      const told = toolItem({ type: "commandExecution", ...itemOf(toolCallId) });
      const command = plainCommand(text(params.command)) || (told?.title ?? "");
      const input = { command, cwd: text(params.cwd) };
      const request = { toolCallId, tool: "shell", title: command, kind: "execute", input };
      return { request, answer: (decision) => ({ decision: VERDICT[decision] }) };
    }
    case "item/fileChange/requestApproval": {
      const told = toolItem({ type: "fileChange", ...itemOf(toolCallId) });
      const request = {
        toolCallId,
        tool: "apply_patch",
        title: told?.title ?? "",
        kind: "edit",
        input: told?.input,
      };
      return { request, answer: (decision) => ({ decision: VERDICT[decision] }) };
    }
    case "mcpServer/elicitation/request": {
      const message = text(params.message);
      const tool = `mcp__${text(params.serverName)}`;
      const request = { toolCallId: "", tool, title: message, kind: "other", input: record(params._meta) };
      return { request, answer: (decision) => ({ action: VERDICT[decision], content: null, _meta: null }) };
    }
    case "item/permissions/requestApproval": {
      const input = record(params.permissions);
      const title = text(params.reason) || "more permissions";
      const request = { toolCallId, tool: "request_permissions", title, kind: "other", input };
      return {
        request,
        answer: (decision) => ({ permissions: decision === "allow" ? input : {}, scope: "turn" }),
      };
    }
    default:
      return undefined;
  }
}
