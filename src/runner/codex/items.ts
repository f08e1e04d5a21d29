import { type JsonRecord, list, record, text } from "../acp/json.js";
import { mcpToolName } from "../agent-tools.js";
import { wordsOf } from "../profiles/command-line.js";
import type { Update } from "../runner.js";

/** What a tool-like item of a thread is to people and to a policy; undefined for messages, thoughts and the like. */
export interface ToolItem {
  readonly tool: string;
  readonly title: string;
  readonly kind: string;
  readonly input: unknown;
}

export function toolItem(item: JsonRecord): ToolItem | undefined {
  switch (item.type) {
    case "commandExecution": {
      const command = plainCommand(text(item.command));
      return { tool: "shell", title: command, kind: "execute", input: { command, cwd: text(item.cwd) } };
    }
    case "fileChange": {
      const changes = list(item.changes).map((change) => {
        const { path, kind, diff } = record(change);
        return { path: text(path), kind: text(record(kind).type), diff: text(diff) };
      });
      const title = `change ${changes.map(({ path }) => path).join(", ")}`;
      return { tool: "apply_patch", title, kind: "edit", input: { changes } };
    }
    case "mcpToolCall": {
      const name = mcpToolName(text(item.server), text(item.tool));
      return { tool: name, title: name, kind: "other", input: item.arguments };
    }
    case "webSearch":
      return { tool: "web_search", title: text(item.query), kind: "fetch", input: { query: item.query } };
    default:
      return undefined;
  }
}

/** Codex wraps what the model asked for in a shell of the user. */
export function plainCommand(command: string): string {
  const [shell = "", flags = "", inner] = wordsOf(command);
  return /(^|\/)(ba|z|da)?sh$/.test(shell) && /^-l?c$/.test(flags) && inner !== undefined ? inner : command;
}

export function toolCall(item: JsonRecord): Update[] {
  const tool = toolItem(item);
  if (tool === undefined) return [];
  const { title, kind, input } = tool;
  return [{ type: "toolCall", id: text(item.id), title, kind, input }];
}

export function toolResult(item: JsonRecord): Update[] {
  if (toolItem(item) === undefined) return [];
  const failed = item.status === "failed" || item.status === "declined";
  return [{ type: "toolResult", id: text(item.id), failed, output: outputOf(item) }];
}

function outputOf(item: JsonRecord): string {
  if (item.type === "commandExecution") {
    const code = item.exitCode === 0 || typeof item.exitCode !== "number" ? "" : `exit code ${item.exitCode}`;
    return [text(item.aggregatedOutput).trimEnd(), code].filter((part) => part !== "").join("\n");
  }
  if (item.type === "fileChange") {
    return list(item.changes)
      .map((change) => `changed ${text(record(change).path)}`)
      .join("\n");
  }
  const said = list(record(item.result).content).flatMap((part) => text(record(part).text) || []);
  return [...said, text(record(item.error).message)].filter((part) => part !== "").join("\n");
}
