import assert from "node:assert/strict";
import { test } from "node:test";
import { BACKENDS } from "./bench.js";
import { fixATest } from "./fix-a-test.js";

for (const backend of BACKENDS) {
  test(`${backend.name} mends a failing test, pushes its branch, does the task that the push opens, and gives its result`, async () => {
    const { status, reason, events, pushed } = await fixATest(backend);
    assert.equal(reason, "WAIT_REASON_COMPLETED", JSON.stringify(status));
    assert.match(pushed, /a \+ b/);
    assert.deepEqual(status.structuredOutput, { fixed: "sum.mjs", testsPass: true });
    assert.deepEqual(
      status.tasks.map(({ id, status: state }: { id: string; status: string }) => [id, state]),
      [["tell", "TASK_STATUS_COMPLETED"]],
    );
    const order = ["REPO_PUSHED", "TASK_ACTIVATED", "TASK_UPDATED", "TURN_ENDED"];
    const seen = events
      .map(({ type }) => type.replace("EVENT_TYPE_", ""))
      .filter((type) => order.includes(type));
    assert.deepEqual(seen, order);
  });
}
