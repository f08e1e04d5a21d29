import { record } from "../acp/json.js";
import type { SessionOpening } from "../runner.js";
import { type AgentProfile, NETWORK_VARIABLES } from "./profile.js";

/** Its own sub-agents would compete with ours; the web is for the network rules of the sandbox to open. */
const DISALLOWED_TOOLS = ["Task", "Agent"];

/** Claude Code by its ACP adapter: backend A. */
export const claude: AgentProfile = {
  name: "claude",
  title: "Claude Code (claude-agent-acp)",
  command: ["claude-agent-acp"],
  versionArgs: ["--cli", "--version"],
  testedVersion: "0.49.0",
  install: "npm install --global @agentclientprotocol/claude-agent-acp@0.49.0",
  variables: [
    ...["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"],
    ...["CLAUDE_CODE_MAX_RETRIES", ...NETWORK_VARIABLES],
  ],
  credentials: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
  program: ({ model, env, ...launch }) => ({
    ...launch,
    protocol: "acp",
    env: {
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      // Else it hides our tools from the model until that searches for them.
      ENABLE_TOOL_SEARCH: "false",
      // It lists some models only; this one adds ours, and is read when it starts.
      ...(model === "" ? {} : { ANTHROPIC_CUSTOM_MODEL_OPTION: model }),
      ...env,
    },
    homeFolders: { CLAUDE_CONFIG_DIR: ".claude" },
    takes: { instructions: true, outputSchema: true },
    sessionMeta,
  }),
};

function sessionMeta({ instructions, outputSchema }: SessionOpening): Record<string, unknown> {
  const schema = objectSchema(outputSchema);
  return {
    ...(instructions === "" ? {} : { systemPrompt: { append: instructions } }),
    claudeCode: {
      emitRawSDKMessages: [{ type: "result" }],
      options: {
        ...(schema === undefined ? {} : { outputFormat: { type: "json_schema", schema } }),
        disallowedTools: DISALLOWED_TOOLS,
        // Whatever the home or a repository says about permissions and servers is not the caller's word.
        settingSources: [],
        strictMcpConfig: true,
      },
    },
  };
}

/** It shows the schema to the model as the input of a tool, which has to be an object. */
function objectSchema(text: string): Record<string, unknown> | undefined {
  const schema = text === "" ? {} : record(JSON.parse(text));
  return schema.type === "object" ? schema : undefined;
}
