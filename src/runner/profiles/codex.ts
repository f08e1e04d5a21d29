import { type AgentProfile, NETWORK_VARIABLES } from "./profile.js";

const OPENAI_URL = "https://api.openai.com/v1";

/** What it would look up or do by itself: nothing of it is wanted in a service. */
const SWITCHED_OFF = [
  "check_for_update_on_startup=false",
  "analytics.enabled=false",
  "feedback.enabled=false",
  'web_search="disabled"',
  ...["apps", "plugins", "remote_plugin", "plugin_discovery_prefetch", "tool_suggest"].map(feature),
  // Its own sub-agents would compete with ours, its goals with the checklist.
  ...["skill_mcp_dependency_install", "multi_agent", "goals"].map(feature),
];

/** Codex by its app server, driven directly: backend B. */
export const codex: AgentProfile = {
  name: "codex",
  title: "Codex (codex app-server)",
  command: ["codex"],
  versionArgs: ["--version"],
  testedVersion: "0.166.0",
  install: "npm install --global @openai/codex@0.166.0",
  variables: ["OPENAI_API_KEY", "OPENAI_BASE_URL", ...NETWORK_VARIABLES],
  credentials: ["OPENAI_API_KEY"],
  program: ({ model: _, args, env, ...launch }) => {
    const { OPENAI_BASE_URL = OPENAI_URL, ...rest } = env;
    const provider = {
      name: "OpenAI",
      base_url: OPENAI_BASE_URL,
      env_key: "OPENAI_API_KEY",
      wire_api: "responses",
    };
    const settings = ['model_provider="retinue"', `model_providers.retinue=${inlineTable(provider)}`];
    return {
      ...launch,
      protocol: "codex",
      args: [...args, "app-server", ...[...SWITCHED_OFF, ...settings].flatMap((setting) => ["-c", setting])],
      env: rest,
      // It refuses to keep its sandbox helper below the temporary folder, where a data folder may well be.
      homeFolders: { CODEX_HOME: ".codex", TMPDIR: ".tmp" },
      takes: { instructions: true, outputSchema: true },
    };
  },
};

function feature(name: string): string {
  return `features.${name}=false`;
}

/** TOML takes JSON's strings. */
function inlineTable(values: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(values).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `{${pairs.join(",")}}`;
}
