import type { PermissionRequest } from "./runner.js";

/** Name under which agent programs know our MCP server; some show its tools as `mcp__retinue__<tool>`. */
export const MCP_SERVER = "retinue";

/** The tools by which an agent talks back, fixed: the MCP server and the embedded agent agree on them here. */
export const TOOL = {
  /** {} → {tasks: [{id, subject, status, active, blockedBy}]}; inactive and deleted tasks left out. */
  checklist: "retinue_checklist",
  /** {id, status: pending | in_progress | completed | deleted}. */
  taskUpdate: "retinue_task_update",
  /** {id?, subject}. */
  taskAdd: "retinue_task_add",
  /** {question}. */
  ask: "retinue_ask",
  /** {result, output?}. */
  complete: "retinue_complete",
  /** {output}: any JSON; does not end the turn. */
  output: "retinue_output",
  /** {name, description}. */
  spawnChild: "retinue_spawn_child",
  /** {name, timeoutSeconds} → {phase, result}; answers with the present phase when the time is up. */
  awaitChild: "retinue_await_child",
  /** {name, text, messageId?}; the same messageId again adds nothing. */
  messageChild: "retinue_message_child",
  /** {} → {children: [{name, phase, result, cost}]}. */
  listChildren: "retinue_list_children",
} as const;

export type ToolName = (typeof TOOL)[keyof typeof TOOL];

/** Matched whole, so that no command line or title of the model's making passes for one of our tools. */
const OWN_TOOL = new RegExp(`^mcp__${MCP_SERVER}__[a-z_]+$`);

/** Whether a program asks leave for one of our own tools; some name it in the title only. */
export function isOwnTool({ tool, title, kind }: PermissionRequest): boolean {
  return OWN_TOOL.test(tool) || (tool === "" && OWN_TOOL.test(title) && kind === "other");
}

/** How agent programs name a tool of an MCP server. */
export function mcpToolName(server: string, tool: string): string {
  return `mcp__${server}__${tool}`;
}
