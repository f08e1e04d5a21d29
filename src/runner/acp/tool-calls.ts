import type { Update } from "../runner.js";
import { type JsonRecord, list, record, text } from "./json.js";

/** The tool calls of a turn, put together from their pieces. */
export interface ToolCalls {
  read(update: JsonRecord): Update[];
  /** Tells of a call that has not been told yet, for whoever is about to speak of it. */
  announce(id: string): Update[];
  /** The tool's own name, where the program has told it. */
  nameOf(id: string): string;
  /** The turn has ended. */
  clear(): void;
}

interface Call {
  name: string;
  title: string;
  kind: string;
  input: unknown;
  told: boolean;
  ended: boolean;
}

/**
 * Programs send a call first and its input later, in any number of pieces. It is told once: as soon as its input is
 * known, or it runs, or it has ended. The result is told once too.
 */
export function createToolCalls(): ToolCalls {
  const calls = new Map<string, Call>();

  const announce = (id: string): Update[] => {
    const call = calls.get(id);
    if (call === undefined || call.told) return [];
    call.told = true;
    return [{ type: "toolCall", id, title: call.title, kind: call.kind, input: call.input }];
  };

  return {
    announce,
    nameOf: (id) => calls.get(id)?.name ?? "",
    clear: () => calls.clear(),
    read(update) {
      const id = text(update.toolCallId);
      const call = calls.get(id) ?? {
        name: "",
        title: "tool",
        kind: "other",
        input: undefined,
        told: false,
        ended: false,
      };
      calls.set(id, call);
      call.name = toolName(update) || call.name;
      call.title = text(update.title) || text(update.name) || call.title;
      call.kind = text(update.kind) || call.kind;
      if (!isEmpty(update.rawInput)) call.input = update.rawInput;
      const { status } = update;
      const ends = !call.ended && (status === "completed" || status === "failed");
      const due = ends || status === "in_progress" || !isEmpty(call.input);
      const updates = due ? announce(id) : [];
      if (!ends) return updates;
      call.ended = true;
      return [...updates, { type: "toolResult", id, failed: status === "failed", output: outputOf(update) }];
    },
  };
}

/** claude-agent-acp tells it beside the protocol; the title is the command or the path. */
function toolName(update: JsonRecord): string {
  return text(update.name) || text(record(record(update._meta).claudeCode).toolName);
}

function isEmpty(input: unknown): boolean {
  return (
    input === undefined || input === null || (typeof input === "object" && Object.keys(input).length === 0)
  );
}

function outputOf(update: JsonRecord): string {
  const shown = list(update.content).flatMap((value) => {
    const item = record(value);
    if (item.type === "diff") return [`changed ${text(item.path)}`];
    return text(record(item.content).text) || [];
  });
  if (shown.length > 0) return shown.join("\n");
  const { rawOutput } = update;
  if (rawOutput === undefined || rawOutput === null) return "";
  return typeof rawOutput === "string" ? rawOutput : JSON.stringify(rawOutput);
}
