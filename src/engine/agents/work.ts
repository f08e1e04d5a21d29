import { join } from "node:path";
import type { Agent } from "../../domain/agent/agent.js";
import { branchOf } from "../../domain/agent/branch.js";
import { failedPrecondition, invalidField } from "../../domain/fault.js";
import type { Runner } from "../../runner/runner.js";
import { quoted } from "../../runner/shell-word.js";
import type { Workspaces } from "../../runner/workspaces.js";
import type { Clock } from "../clock.js";
import type { Documents } from "./documents.js";
import { type DiffText, parseDiff } from "./work-diff.js";

/**
 * What an agent made, read from its checkout. The checkout is the agent's: its settings may name programs that git
 * runs, so that git is run as the agent, in its sandbox, and never as the server.
 */
export interface Work {
  diff(agent: Agent, repo: string): Promise<DiffText & { readonly repo: string; readonly branch: string }>;
  branch(agent: Agent, repo: string): Promise<Branch>;
}

export interface Branch {
  readonly repo: string;
  readonly branch: string;
  readonly headCommit: string;
  readonly baseCommit: string;
  readonly bundle: Uint8Array;
}

export interface WorkOptions {
  readonly runner: Runner;
  readonly workspaces: Workspaces;
  readonly documents: Documents;
  readonly clock: Clock;
  readonly agentsFolder: string;
  readonly hide: readonly string[];
}

const TIMEOUT_MS = 60_000;
const DIFF_BYTES = 1024 * 1024;
const BUNDLE_BYTES = 2 * 1024 * 1024;

/** The agent's index stays as it is: what is new is added to a copy. */
const DIFF = `
cd "$repo" || exit 3
export GIT_INDEX_FILE="$(mktemp -u)" GIT_OPTIONAL_LOCKS=0
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=false
trap 'rm -f "$GIT_INDEX_FILE"' EXIT
cp .git/index "$GIT_INDEX_FILE" 2>/dev/null
git add --all >/dev/null 2>&1
head=$(git rev-parse --verify --quiet HEAD)
from=$(git merge-base "$base" HEAD 2>/dev/null || echo "\${base:-4b825dc642cb6eb9a060e54bf8d69288fbee4904}")
git diff --cached --quiet HEAD 2>/dev/null && dirty=0 || dirty=1
echo "$head $from $dirty"
git diff --cached --numstat --no-renames "$from" 2>/dev/null | head -n 5001
echo "$mark"
git diff --cached --no-ext-diff --no-textconv --no-color --no-renames "$from" 2>/dev/null | head -c ${DIFF_BYTES + 1}
`;

const BUNDLE = `
cd "$repo" || exit 3
git rev-parse --verify --quiet "refs/heads/$branch" || exit 4
from=$(git merge-base "$base" "refs/heads/$branch" 2>/dev/null)
echo "$from"
git bundle create --quiet - "refs/heads/$branch" \${from:+"^$from"} 2>/dev/null | head -c ${BUNDLE_BYTES + 1} | base64 -w0
`;

export function createWork(options: WorkOptions): Work {
  const { runner, workspaces, documents, clock } = options;

  /** Runs a script in the repository, in the agent's surroundings. */
  async function read(agent: Agent, asked: string, script: string, more: Record<string, string>) {
    const { uid, key } = agent;
    const repos = (await documents.workspace(key.tenant, key.workspace))?.repos ?? [];
    const repo = nameOf(
      asked,
      repos.map(({ name }) => name),
    );
    const seen = await workspaces.look(
      uid,
      key.tenant,
      repos.find(({ name }) => name === repo),
    );
    if (seen === undefined) throw noCheckout(repo);
    const variables = { repo, base: seen.base, branch: branchOf(agent), ...more };
    const settings = Object.entries(variables).map(([name, value]) => `${name}=${quoted(value)}`);
    let output = "";
    const folder = join(options.agentsFolder, uid);
    const { ended, code } = await runner.run({
      uid,
      cwd: join(folder, "work"),
      home: join(folder, "home"),
      processToken: `rtn-${clock.newId()}`,
      hide: options.hide,
      readable: seen.readable,
      confinement: agent.runtime.confinement,
      command: `${settings.join("; ")}\n${script}`,
      timeoutMs: TIMEOUT_MS,
      onOutput: (text) => {
        output += text;
      },
      signal: new AbortController().signal,
    });
    if (code === 3) throw noCheckout(repo);
    if (ended !== "exited") throw failedPrecondition("CHECKOUT_BUSY", repo, `${repo}: git took too long`);
    return { repo, branch: variables.branch, code, output };
  }

  return {
    async diff(agent, asked) {
      const mark = clock.newId();
      const { repo, branch, output } = await read(agent, asked, DIFF, { mark });
      return { repo, branch, ...parseDiff(output, mark, DIFF_BYTES) };
    },

    async branch(agent, asked) {
      const { repo, branch, code, output } = await read(agent, asked, BUNDLE, {});
      const [headCommit = "", baseCommit = "", text = ""] = output.split("\n");
      const bundle = Buffer.from(text, "base64");
      if (code === 4 || bundle.length === 0)
        throw failedPrecondition("NO_COMMITS", repo, `${repo}: nothing was committed to ${branch}`);
      if (bundle.length > BUNDLE_BYTES) {
        const why = `${repo}: the branch is larger than ${BUNDLE_BYTES} bytes; fetch it from the upstream`;
        throw failedPrecondition("BRANCH_TOO_LARGE", repo, why);
      }
      return { repo, branch, headCommit, baseCommit, bundle };
    },
  };
}

function nameOf(asked: string, names: readonly string[]): string {
  const [only, another] = names;
  if (asked === "" && only !== undefined && another === undefined) return only;
  if (names.includes(asked)) return asked;
  const known = names.length === 0 ? "the workspace has none" : `the workspace has ${names.join(", ")}`;
  throw invalidField("repo", asked === "" ? `required: ${known}` : `there is no such repository; ${known}`);
}

function noCheckout(repo: string) {
  const text = `${repo} is not checked out: the agent has not run yet, or its files were deleted`;
  return failedPrecondition("NO_CHECKOUT", repo, text);
}
