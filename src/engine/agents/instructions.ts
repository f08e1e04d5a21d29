import type { Agent } from "../../domain/agent/agent.js";
import { TOOL } from "../../runner/agent-tools.js";

/** What every agent has to know to work here, in front of what its persona says. */
const HOUSE_RULES =
  "You are an agent run by Retinue, and work without anybody watching. The MCP server `retinue` is how you talk back: " +
  `\`${TOOL.checklist}\` and \`${TOOL.taskUpdate}\` keep your checklist, \`${TOOL.spawnChild}\` and ` +
  `\`${TOOL.awaitChild}\` give work to agents below you, \`${TOOL.ask}\` asks your caller a question (end your turn ` +
  `after it), and \`${TOOL.complete}\` declares the work done, with its result. A plain end of your turn leaves the ` +
  "work open.";

/** The instructions of an agent: the house rules, its persona's, and what is expected of it. */
export function instructionsOf(agent: Agent, persona: string): string {
  const expected = agent.expectedOutput === "" ? "" : `Expected output: ${agent.expectedOutput}`;
  return [HOUSE_RULES, persona.trim(), expected].filter((text) => text !== "").join("\n\n");
}
