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
