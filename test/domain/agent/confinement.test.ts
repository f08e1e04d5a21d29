import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Confinement,
  confinementText,
  requireNotWeaker,
} from "../../../src/domain/agent/confinement.js";
import { faultOf } from "../fault-of.js";

const OPEN: Confinement = { sandbox: "none", network: "full", memoryMib: 0, maxProcesses: 0 };
const TIGHT: Confinement = { sandbox: "bwrap", network: "model-only", memoryMib: 512, maxProcesses: 64 };

test("the status says what is in force", () => {
  assert.equal(confinementText(OPEN), "none");
  assert.equal(confinementText(TIGHT), "bwrap, network model-only, 512 MiB, 64 processes");
});

const ROWS: [string, Confinement, Confinement, string | undefined][] = [
  ["the same", TIGHT, TIGHT, undefined],
  ["tighter in everything", TIGHT, OPEN, undefined],
  ["a smaller limit", { ...TIGHT, memoryMib: 256 }, TIGHT, undefined],
  ["no sandbox", { ...TIGHT, sandbox: "none" }, TIGHT, "sandbox"],
  ["the whole network", { ...TIGHT, network: "full" }, TIGHT, "network"],
  ["more memory", { ...TIGHT, memoryMib: 513 }, TIGHT, "memoryMib"],
  ["memory without a limit", { ...TIGHT, memoryMib: 0 }, TIGHT, "memoryMib"],
  ["more processes", { ...TIGHT, maxProcesses: 65 }, TIGHT, "maxProcesses"],
];
for (const [what, child, parent, weaker] of ROWS) {
  test(`a child with ${what} is ${weaker === undefined ? "taken" : "refused"}`, () => {
    if (weaker === undefined) return requireNotWeaker(child, parent);
    const fault = faultOf(() => requireNotWeaker(child, parent));
    assert.equal(fault.reason, "ISOLATION_WEAKER");
    assert.ok(fault.message.endsWith(weaker), fault.message);
  });
}
