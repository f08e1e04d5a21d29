import { homedir } from "node:os";
import { join } from "node:path";
import { claude } from "../../src/runner/profiles/claude.js";
import { codex } from "../../src/runner/profiles/codex.js";

/** Exact versions: npm would pick others by itself. */
export const PACKAGES = {
  "@agentclientprotocol/claude-agent-acp": claude.testedVersion,
  "@openai/codex": codex.testedVersion,
};

/** Where `.ci/agents.mjs` puts them. */
export const AGENTS_FOLDER = join(
  process.env.XDG_CACHE_HOME || join(homedir(), ".cache"),
  "retinue",
  `claude-${claude.testedVersion}_codex-${codex.testedVersion}`,
);

export const CLAUDE = join(AGENTS_FOLDER, "node_modules", ".bin", "claude-agent-acp");
export const CODEX = join(AGENTS_FOLDER, "node_modules", ".bin", "codex");
