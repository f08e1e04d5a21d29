import assert from "node:assert/strict";
import { test } from "node:test";
import { Backend } from "../../../gen/retinue/v1/settings_pb.js";
import {
  BACKENDS,
  backendOfModelName,
  effortViolation,
  rulesOf,
  tierViolation,
} from "../../../src/domain/backends/index.js";

const { A, B } = Backend;

const models = [
  ["script-a", A, "the embedded script under A's rules"],
  ["script-b", B, "the embedded script under B's rules"],
  ["claude", A, "claude alone"],
  ["claude-opus-4-1", A, "claude and more"],
  ["opus", A, "opus begins with o, but no digit follows"],
  ["opus-4", A, "opus and more"],
  ["sonnet-4.5", A, "sonnet"],
  ["haiku", A, "haiku"],
  ["gpt-5", B, "gpt"],
  ["codex-mini", B, "codex"],
  ["o3", B, "o and a digit"],
  ["o4-mini", B, "o, a digit and more"],
  ["o", undefined, "o without a digit"],
  ["omni", undefined, "o and a letter"],
  ["script-c", undefined, "a script that there is not"],
  ["script-a-2", undefined, "the scripts are whole names, not beginnings"],
  ["my-claude", undefined, "claude not at the beginning"],
  ["Claude", undefined, "names are lower case"],
  ["", undefined, "no name at all"],
] as const;

for (const [name, backend, sentence] of models) {
  test(`model '${name}': ${sentence}`, () => assert.equal(backendOfModelName(name), backend));
}

// Every value of interface.md 4.1, on every backend.
const efforts = [
  ["none", false, true],
  ["low", true, true],
  ["medium", true, true],
  ["high", true, true],
  ["xhigh", true, true],
  ["max", true, false],
  ["", true, true],
  ["minimal", false, false],
  ["HIGH", false, false],
  [" high", false, false],
] as const;

for (const [effort, onA, onB] of efforts) {
  test(`effort '${effort}' is ${onA ? "" : "not "}A's and ${onB ? "" : "not "}B's`, () => {
    assert.equal(effortViolation(A, effort) === undefined, onA);
    assert.equal(effortViolation(B, effort) === undefined, onB);
    assert.equal(effortViolation(undefined, effort) === undefined, onA || onB);
  });
}

const tiers = [
  ["standard", false, true],
  ["fast", false, true],
  ["flex", false, true],
  ["", true, true],
  ["priority", false, false],
  ["Fast", false, false],
] as const;

for (const [tier, onA, onB] of tiers) {
  test(`tier '${tier}' is ${onA ? "" : "not "}A's and ${onB ? "" : "not "}B's`, () => {
    assert.equal(tierViolation(A, tier) === undefined, onA);
    assert.equal(tierViolation(B, tier) === undefined, onB);
    assert.equal(tierViolation(undefined, tier) === undefined, onA || onB);
  });
}

const sentences = [
  [
    effortViolation(A, "none"),
    `"none" is not a reasoning effort of backend A (it is backend B's); allowed: low, medium, high, xhigh, max`,
  ],
  [
    effortViolation(B, "max"),
    `"max" is not a reasoning effort of backend B (it is backend A's); allowed: none, low, medium, high, xhigh`,
  ],
  [
    effortViolation(undefined, "huge"),
    `"huge" is not a reasoning effort of any backend; allowed: low, medium, high, xhigh, max, none`,
  ],
  [tierViolation(A, "fast"), "backend A has no service tiers: leave it empty"],
  [tierViolation(B, "slow"), `"slow" is not a service tier of backend B; allowed: standard, fast, flex`],
] as const;

for (const [said, sentence] of sentences) test(`says: ${sentence}`, () => assert.equal(said, sentence));

test("every backend has rules, and UNSPECIFIED has none", () => {
  assert.deepEqual(
    BACKENDS.map((rules) => rules.backend),
    [A, B],
  );
  assert.equal(rulesOf(A)?.title, "backend A");
  assert.equal(rulesOf(Backend.UNSPECIFIED), undefined);
  assert.match(effortViolation(Backend.UNSPECIFIED, "low") ?? "", /backend 0/);
});
