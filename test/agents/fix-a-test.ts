import { join } from "node:path";
import { createAgentCaller } from "../support/agents.js";
import { cleanUp } from "../support/cleanup.js";
import { temporaryFolder } from "../support/folder.js";
import { git, makeUpstream } from "../support/repository.js";
import { startServer } from "../support/server.js";
import { agentsConfig, type Backend, benchOn } from "./bench.js";
import type { Json } from "./model/http.js";

/** What came of the run. */
export interface FixedTest {
  readonly status: Json;
  readonly reason: string;
  readonly events: Json[];
  /** The file as it stands on the branch that reached the upstream. */
  readonly pushed: string;
  /** Folders of this machine, to be left out of what is shown. */
  readonly folders: readonly string[];
}

const FILES = {
  "sum.mjs": "export const sum = (a, b) => a - b;\n",
  "sum.test.mjs":
    'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { sum } from "./sum.mjs";\n\n' +
    'test("sums", () => assert.equal(sum(2, 3), 5));\n',
};

const SCHEMA = {
  type: "object",
  properties: { fixed: { type: "string" }, testsPass: { type: "boolean" } },
  required: ["fixed", "testsPass"],
  additionalProperties: false,
};

/** A real agent program mends a failing test in a real repository; only the model behind it is a stand-in. */
export async function fixATest(backend: Backend): Promise<FixedTest> {
  const folder = temporaryFolder();
  const upstream = join(folder, "shop.git");
  makeUpstream(upstream, FILES);
  const model = await backend.startModel();
  cleanUp(() => model.close());
  const server = await startServer({ agents: agentsConfig(model.url), localRepos: [folder] });
  const bench = await benchOn(server, backend, model);
  const agents = createAgentCaller(server, server.adminKey);
  await bench.put("workspace", "default", {
    repos: [{ name: "shop", url: upstream }],
    permissions: { allow: ["*"] },
  });
  const output = { fixed: "sum.mjs", testsPass: true };
  await bench.spawn("fixer", script(backend, output), {
    outputSchema: JSON.stringify(SCHEMA),
    tasks: [
      {
        id: "tell",
        subject: "Say what was changed in the modules",
        activation: { filesModified: { pattern: "*.mjs" } },
      },
    ],
  });
  const { status, reason } = await agents.wait("fixer", { timeout: "120s" });
  const branch = `retinue/admin/fixer-${status.uid.slice(0, 8)}`;
  const pushed = git(upstream, "show", `${branch}:sum.mjs`);
  return {
    status,
    reason,
    events: await agents.timeline("fixer"),
    pushed,
    folders: [server.dataDir, folder],
  };
}

/** Claude Code does not let a model go that has not used its own tool for the result. */
function ownResultTool({ name }: Backend, output: object): string[] {
  return name === "claude"
    ? ["@say The result once more.", `@tool StructuredOutput ${JSON.stringify(output)}`]
    : [];
}

/** What the stand-in plays: the steps that a model would take. */
function script(backend: Backend, output: object): string {
  // One of the programs stays in the folder that a command went to, the other does not.
  const shell = (command: string) => backend.shell(`[ -d shop ] && cd shop; ${command}`);
  return [
    "The tests of shop fail. Find out why, mend it, and push your branch.",
    "@say I run the tests first.",
    shell("node --test --test-reporter=dot"),
    "@say sum() subtracts. I mend it and run the tests again.",
    shell("sed -i 's/a - b/a + b/' sum.mjs && node --test --test-reporter=dot"),
    "@say They pass. I commit and push.",
    shell("git commit -qam 'Add, do not subtract' && git push -q origin HEAD && git log --oneline -1"),
    "@say My push has opened a task; it is done.",
    '@tool retinue_task_update {"id":"tell","status":"completed"}',
    "@say Everything is done.",
    `@tool retinue_complete ${JSON.stringify({ result: "sum() adds again, and the tests pass.", output })}`,
    ...ownResultTool(backend, output),
    "@say Good bye.",
  ].join("\n");
}
