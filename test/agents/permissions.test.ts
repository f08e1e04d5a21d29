import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { BACKENDS, type Bench, openBench } from "./bench.js";

for (const backend of BACKENDS) {
  describe(`permissions of ${backend.name}`, () => {
    let bench: Bench;
    before(async () => {
      bench = await openBench(backend);
      await bench.put("workspace", "asks", { permissions: { allow: ["execute(mkdir allowed*)"] } });
    });
    const inWorkspace = (path: string) => ({ agentId: { agent: [path], workspace: "asks" } });

    test("what the workspace allows needs no question", async () => {
      await bench.spawn(
        "allowed",
        `${backend.shell("mkdir allowed-folder")}\n@say made`,
        inWorkspace("allowed"),
      );
      const { status } = await bench.agents.wait("allowed");
      assert.equal(status.lastTurn.summary, "made", JSON.stringify(status));
    });

    test("anything else ends the turn with the question; allow grants it once", async () => {
      const use = backend.shell("mkdir other-folder");
      await bench.spawn("asks", `${use}\n@say made`, inWorkspace("asks"));
      const { status, reason } = await bench.agents.wait("asks");
      assert.equal(reason, "WAIT_REASON_NEEDS_INPUT");
      assert.match(status.needsInput, /May I use \S+: .*mkdir other-folder.*allow/);
      assert.equal(status.lastTurn.outcome, "TURN_OUTCOME_COMPLETED");

      const granted = await bench.agents.queue("asks", `allow\n${use}\n@say made\n${use}\n@say twice`);
      const after = await bench.agents.wait("asks", { followUpId: granted.followUpId });
      // The first was granted; the same again is a new question.
      assert.match(after.status.needsInput, /May I use \S+: .*mkdir other-folder/);
      const events = await bench.agents.timeline("asks");
      const done = events.filter(({ payload }) => payload.toolResult && !payload.toolResult.failed);
      assert.equal(done.length, 1, JSON.stringify(events));

      const refused = await bench.agents.queue("asks", `no\n${use}\n@say made`);
      const last = await bench.agents.wait("asks", { followUpId: refused.followUpId });
      assert.match(last.status.needsInput, /May I use/);
    });
  });
}
