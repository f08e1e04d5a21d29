import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { agentProcesses } from "../support/agent-processes.js";
import { createAgentCaller, until } from "../support/agents.js";
import { cleanUp } from "../support/cleanup.js";
import { startServe } from "../support/process.js";
import { encode, rest } from "../support/server.js";
import { BACKENDS, SECRET } from "./bench.js";
import { CLAUDE, CODEX } from "./installed.js";

for (const backend of BACKENDS) {
  describe(`kill -9 of the server under ${backend.name}`, () => {
    test("in mid-turn: nothing is left running, and the next server goes on in the same session", async () => {
      const model = await backend.startModel();
      cleanUp(() => model.close());
      // As an operator sets it up: flags for the programs, the environment for their keys.
      const args = ["--claude-command", CLAUDE, "--codex-command", CODEX, "--log-level", "info"];
      const env = {
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: SECRET,
        OPENAI_BASE_URL: `${model.url}/v1`,
        OPENAI_API_KEY: SECRET,
      };
      const first = await startServe({ args, env });
      const agents = createAgentCaller(first, first.adminKey);
      const workspace = { payload: encode({ permissions: { allow: ["*"] } }) };
      await rest(first, first.adminKey, "POST", "/v1/catalog/workspace/default", workspace);
      const more = { model: backend.model };
      await agents.spawn("survivor", `@say before MARK-ONE`, more);
      await agents.wait("survivor");
      await agents.queue("survivor", `${backend.shell("sleep 4712")}\n@say after`);
      await agents.until("survivor", "at work", ({ turn }) => turn?.state === "TURN_STATE_RUNNING");
      const asked = async () => backend.turnsOf(model.requests).length;
      await until("the second turn is asked for", asked, (count) => count >= 2);
      const { uid } = await agents.status("survivor");

      first.kill("SIGKILL");
      await first.exited;
      const folder = `${first.dataDir}/agents/${uid}`;
      await until(
        "no process is left",
        () => agentProcesses(folder),
        (pids) => pids.length === 0,
      );

      const second = await startServe({ args, env, dataDir: first.dataDir });
      const again = createAgentCaller(second, second.adminKey);
      await again.until("survivor", "a new attempt", ({ turn }) => turn?.attempt > 1);
      const askedBefore = await asked();
      await again.until("survivor", "at work again", ({ turn }) => turn?.state === "TURN_STATE_RUNNING");
      await until("the model is asked again", asked, (count) => count > askedBefore);
      const { runCount } = await again.status("survivor");
      await again.get("stop-turn", "survivor", { runId: runCount });
      await again.wait("survivor");
      const { followUpId } = await again.queue("survivor", "@recall");
      const { status } = await again.wait("survivor", { followUpId });
      assert.match(status.lastTurn.summary, /recalled: .*MARK-ONE.*Continue where you left off/s);
      assert.ok(!(first.stderr() + second.stderr()).includes(SECRET), "the log tells the model's key");
    });
  });
}
