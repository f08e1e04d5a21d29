import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import type { Agent } from "../../../src/domain/agent/agent.js";
import { killAgent, processesEnded } from "../../../src/domain/agent/kill.js";
import { DEFAULT_LIMITS } from "../../../src/domain/agent/limits.js";
import { NO_SETTINGS } from "../../../src/domain/agent/settings.js";
import { type SpawnRequest, spawnFingerprint } from "../../../src/domain/agent/spawn.js";
import {
  isRepeatedSpawn,
  requireDocument,
  requireSpawnable,
  type SpawnPlace,
  selectWorkspace,
} from "../../../src/domain/agent/spawn-check.js";
import {
  at,
  done,
  end,
  persona,
  type Refusal,
  refuses,
  resting,
  running,
  type SpawnOptions,
  spawnDecision,
  spawned,
  T0,
  task,
  typesOf,
  withChild,
} from "./fixtures.js";

const stopping = () => killAgent(running(), "killed", at()).agent;
const canceled = () => processesEnded(stopping(), at()).agent;
const place = (more: Partial<SpawnPlace>): SpawnPlace => ({
  path: ["root"],
  existing: undefined,
  descendantLives: false,
  parent: undefined,
  liveSubtree: 0,
  liveAgents: 0,
  ...more,
});
const childPlace = (parent: Agent | undefined, more: Partial<SpawnPlace> = {}) =>
  place({ path: ["root", "c"], parent, ...more });
const crowded = () =>
  Array.from({ length: 20 }, (_, i) => `c${i}`).reduce((agent, name) => withChild(agent, name), running());

describe("where an agent can be spawned (semantics 2, 3 and 8)", () => {
  const rows: [row: string, where: () => SpawnPlace, refusal: Refusal | undefined][] = [
    ["a new root", () => place({}), undefined],
    [
      "a live agent at that path",
      () => place({ existing: resting() }),
      { code: Code.ALREADY_EXISTS, reason: "AGENT_EXISTS" },
    ],
    [
      "a STOPPING agent at that path",
      () => place({ existing: stopping() }),
      { code: Code.ALREADY_EXISTS, reason: "AGENT_EXISTS" },
    ],
    ["a terminal path: a new incarnation", () => place({ existing: canceled() }), undefined],
    [
      "a terminal path while a descendant of the old one lives",
      () => place({ existing: canceled(), descendantLives: true }),
      { code: Code.FAILED_PRECONDITION, reason: "DESCENDANT_ALIVE" },
    ],
    ["below a live parent", () => childPlace(running()), undefined],
    ["below a resting parent", () => childPlace(resting()), undefined],
    [
      "below a missing parent",
      () => childPlace(undefined),
      { code: Code.NOT_FOUND, reason: "PARENT_NOT_FOUND" },
    ],
    [
      "below a STOPPING parent",
      () => childPlace(stopping()),
      { code: Code.FAILED_PRECONDITION, reason: "PARENT_STOPPING" },
    ],
    [
      "below a terminal parent",
      () => childPlace(canceled()),
      { code: Code.FAILED_PRECONDITION, reason: "PARENT_TERMINAL" },
    ],
    ["a path of 4 elements", () => place({ path: ["a", "b", "c", "d"], parent: running() }), undefined],
    [
      "a path of 5 elements",
      () => place({ path: ["a", "b", "c", "d", "e"], parent: running() }),
      { code: Code.INVALID_ARGUMENT, reason: "PATH_TOO_LONG" },
    ],
    [
      "an element that is no name",
      () => place({ path: ["a..b"] }),
      { code: Code.INVALID_ARGUMENT, reason: "NAME_INVALID", field: "agentId.agent[0]" },
    ],
    [
      "the 21st live child",
      () => childPlace(crowded()),
      { code: Code.RESOURCE_EXHAUSTED, reason: "CHILDREN_FULL" },
    ],
    [
      "the 201st live agent of a tree",
      () => childPlace(running(), { liveSubtree: 200 }),
      { code: Code.RESOURCE_EXHAUSTED, reason: "SUBTREE_FULL" },
    ],
    [
      "the 1001st live agent of a tenant",
      () => place({ liveAgents: 1000 }),
      { code: Code.RESOURCE_EXHAUSTED, reason: "TENANT_FULL" },
    ],
  ];
  for (const [row, where, refusal] of rows) {
    it(refusal === undefined ? `allowed: ${row}` : `refused: ${row}`, () => {
      if (refusal === undefined) requireSpawnable(where(), DEFAULT_LIMITS);
      else refuses(() => requireSpawnable(where(), DEFAULT_LIMITS), refusal);
    });
  }
});

describe("spawn (semantics 2 and 3)", () => {
  it("tells of itself first, then of its tasks and its persona's", () => {
    const lint = { id: "lint", subject: "", description: "", blockedBy: [] };
    const decision = spawnDecision({
      tasks: [task("t")],
      settings: { persona: persona("p", { tasks: [lint] }) },
    });
    assert.deepEqual(typesOf(decision), ["AGENT_SPAWNED", "TASK_CREATED", "TASK_CREATED"]);
    assert.equal(decision.agent.phase, Phase.PENDING);
  });
  const refused: [row: string, options: SpawnOptions, refusal: Refusal][] = [
    [
      "nothing to do",
      { description: "" },
      { code: Code.INVALID_ARGUMENT, reason: "FIELD_REQUIRED", field: "description" },
    ],
    [
      "a description over 256 KiB",
      { description: "ä".repeat(131_073) },
      { code: Code.INVALID_ARGUMENT, reason: "FIELD_TOO_LONG" },
    ],
    [
      "an expected output over 256 KiB",
      { expectedOutput: "x".repeat(262_145) },
      { code: Code.INVALID_ARGUMENT, reason: "FIELD_TOO_LONG" },
    ],
    [
      "a platform-set field of a task",
      { tasks: [task("t", { ephemeral: true })] },
      { code: Code.INVALID_ARGUMENT, reason: "TASK_FIELD_RESERVED" },
    ],
    [
      "tasks in a ring",
      { tasks: [task("t", { blocks: ["t"] })] },
      { code: Code.INVALID_ARGUMENT, reason: "TASK_CYCLE" },
    ],
  ];
  for (const [row, options, refusal] of refused) {
    it(`refused: ${row}`, () => refuses(() => spawned(options), refusal));
  }
  it("a description of exactly 256 KiB is taken", () => {
    assert.equal(spawned({ description: "x".repeat(262_144) }).phase, Phase.PENDING);
  });
});

describe("requestId (semantics 3)", () => {
  const { key } = spawned();
  const request: SpawnRequest = {
    ...NO_SETTINGS,
    description: "d",
    expectedOutput: "",
    tasks: [],
    agent: "",
    environment: "",
    labels: { b: "2", a: "1" },
    startAtMs: undefined,
    idlePolicy: 0,
    budget: undefined,
  };
  it("the same request: the first answer again", () => {
    const again = { ...request, labels: { a: "1", b: "2" } };
    assert.equal(
      isRepeatedSpawn({ fingerprint: spawnFingerprint(key, request) }, spawnFingerprint(key, again)),
      true,
    );
  });
  it("none under that ID: a new agent", () => assert.equal(isRepeatedSpawn(undefined, "x"), false));
  const others: [string, Partial<SpawnRequest>][] = [
    ["description", { description: "e" }],
    ["expectedOutput", { expectedOutput: "e" }],
    ["tasks", { tasks: [task("t")] }],
    ["persona", { agent: "p" }],
    ["model", { model: "opus" }],
    ["fast mode", { fastMode: false }],
    ["environment", { environment: "e" }],
    ["labels", { labels: {} }],
    ["startAt", { startAtMs: T0 }],
    ["idle policy", { idlePolicy: 1 }],
    [
      "budget",
      { budget: { maxCostUsd: 1, maxTokens: undefined, maxTurns: undefined, maxWallTimeMs: undefined } },
    ],
  ];
  for (const [row, differs] of others) {
    it(`another ${row}: ALREADY_EXISTS`, () => {
      const earlier = { fingerprint: spawnFingerprint(key, request) };
      refuses(() => isRepeatedSpawn(earlier, spawnFingerprint(key, { ...request, ...differs })), {
        code: Code.ALREADY_EXISTS,
        reason: "REQUEST_ID_TAKEN",
      });
    });
  }
  it("another path: ALREADY_EXISTS", () => {
    const other = spawnFingerprint({ ...key, path: ["other"] }, request);
    refuses(() => isRepeatedSpawn({ fingerprint: spawnFingerprint(key, request) }, other), {
      code: Code.ALREADY_EXISTS,
      reason: "REQUEST_ID_TAKEN",
    });
  });
});

describe("documents that a spawn names (semantics 3)", () => {
  for (const kind of ["workspace", "persona", "environment"] as const) {
    it(`an unknown ${kind}: NOT_FOUND with reason`, () => {
      const reason = `${kind.toUpperCase()}_NOT_FOUND`;
      refuses(() => requireDocument(undefined, kind, "x"), {
        code: Code.NOT_FOUND,
        reason,
        metadata: { [kind]: "x" },
      });
    });
  }
  it("one that is there is passed on", () => assert.equal(requireDocument(7, "persona", "x"), 7));
});

describe("the workspace of a spawn that names none (semantics 3)", () => {
  const rows: [row: string, documents: { name: string; default: boolean }[], selected: string][] = [
    [
      "the one marked default",
      [
        { name: "a", default: false },
        { name: "b", default: true },
      ],
      "b",
    ],
    [
      "of several marked the first by name",
      [
        { name: "c", default: true },
        { name: "b", default: true },
      ],
      "b",
    ],
    ["else the only one", [{ name: "a", default: false }], "a"],
    [
      "else the builtin",
      [
        { name: "a", default: false },
        { name: "b", default: false },
      ],
      "default",
    ],
    ["without any the builtin", [], "default"],
  ];
  for (const [row, documents, selected] of rows) {
    it(row, () => assert.equal(selectWorkspace(documents), selected));
  }
});

it("a completed agent can be spawned again at its path", () => {
  requireSpawnable(place({ existing: end(done(running())).agent }), DEFAULT_LIMITS);
});
