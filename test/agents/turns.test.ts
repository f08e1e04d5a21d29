import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { saidIn, typesOf } from "../support/agents.js";
import { BACKENDS, type Bench, openBench } from "./bench.js";

for (const backend of BACKENDS) {
  describe(`turns of ${backend.name}`, () => {
    let bench: Bench;
    before(async () => {
      bench = await openBench(backend);
    });

    test("a turn is streamed, and its end is told", async () => {
      await bench.spawn("streams", "@say hello from the model\n@usage 100 20 30");
      const { status } = await bench.agents.wait("streams");
      assert.equal(status.lastTurn.outcome, "TURN_OUTCOME_COMPLETED", JSON.stringify(status));
      assert.equal(status.lastTurn.summary, "hello from the model");
      const events = await bench.agents.timeline("streams");
      assert.equal(saidIn(events), "hello from the model");
      assert.ok(typesOf(events).includes("USAGE"));
      assert.match(status.runtime.build, /^\S+ \d+\.\d+/);
    });
  });
}
