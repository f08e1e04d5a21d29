import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import { openDraft } from "../../../src/domain/agent/decision.js";
import { killAgent, processesEnded } from "../../../src/domain/agent/kill.js";
import {
  isAlive,
  isTerminal,
  moveTo,
  requireAlive,
  requireFound,
  TRANSITIONS,
} from "../../../src/domain/agent/phase.js";
import { at, refuses, resting, running, spawned, T0, typesOf } from "./fixtures.js";

const PHASES = Object.keys(TRANSITIONS).map(Number) as Phase[];

describe("phases", () => {
  const allowed: [string, Phase, Phase[]][] = [
    [
      "a PENDING agent runs, goes back to rest when its messages go, or is stopped",
      Phase.PENDING,
      [2, 3, 4, 6, 5],
    ],
    ["a RUNNING agent goes anywhere but straight to CANCELED", Phase.RUNNING, [1, 3, 4, 6, 7, 5]],
    [
      "a SLEEPING agent wakes, is told, completes or is stopped; it never fails",
      Phase.SLEEPING,
      [1, 4, 6, 5],
    ],
    ["a WAITING agent may change its reason without leaving", Phase.WAITING_FOR_INPUT, [1, 3, 4, 6, 5]],
    ["a STOPPING agent only becomes CANCELED", Phase.STOPPING, [8]],
    ["COMPLETED is final", Phase.COMPLETED, []],
    ["FAILED is final", Phase.FAILED, []],
    ["CANCELED is final", Phase.CANCELED, []],
  ];
  for (const [row, from, to] of allowed) {
    it(row, () => {
      assert.deepEqual([...TRANSITIONS[from]], to);
      for (const phase of PHASES.filter((p) => !to.includes(p) && p !== from)) {
        const draft = openDraft({ ...spawned(), phase: from });
        assert.throws(() => moveTo(draft, phase, T0), /no transition/);
      }
    });
  }

  it("three phases are terminal, and STOPPING is neither terminal nor alive", () => {
    assert.deepEqual(PHASES.filter(isTerminal), [Phase.COMPLETED, Phase.FAILED, Phase.CANCELED]);
    assert.deepEqual(
      PHASES.filter((p) => !isAlive(p)),
      [5, 6, 7, 8],
    );
  });

  it("staying where it is with the same reason is no event", () => {
    const draft = openDraft(resting());
    moveTo(draft, Phase.WAITING_FOR_INPUT, T0 + 5, draft.agent.needsInput);
    assert.deepEqual(draft.events, []);
  });

  it("a new reason in WAITING is an event and keeps the time of the phase", () => {
    const draft = openDraft(resting());
    moveTo(draft, Phase.WAITING_FOR_INPUT, T0 + 5, { cause: "child", text: "other" });
    assert.deepEqual(typesOf({ ...draft, reply: undefined }), ["PHASE_CHANGED"]);
    assert.equal(draft.agent.phaseSinceMs, T0);
  });
});

describe("who counts as running (semantics 1, row 2)", () => {
  const stopping = () => killAgent(running(), "killed", at()).agent;
  const canceled = () => processesEnded(stopping(), at()).agent;
  it("a missing agent is NOT_FOUND, AGENT_NOT_FOUND", () => {
    refuses(() => requireFound(undefined, ["a", "b"]), {
      code: Code.NOT_FOUND,
      reason: "AGENT_NOT_FOUND",
      metadata: { agent: "a/b" },
    });
  });
  it("a terminal agent is NOT_FOUND, AGENT_TERMINAL", () => {
    refuses(() => requireAlive(canceled()), {
      code: Code.NOT_FOUND,
      reason: "AGENT_TERMINAL",
      metadata: { agent: "root", phase: "PHASE_CANCELED" },
    });
  });
  it("a STOPPING agent is NOT_FOUND, AGENT_STOPPING", () => {
    refuses(() => requireAlive(stopping()), {
      code: Code.NOT_FOUND,
      reason: "AGENT_STOPPING",
      metadata: { agent: "root", phase: "PHASE_STOPPING" },
    });
  });
  it("a resting agent is alive", () => requireAlive(resting()));
  it("a pending agent is alive", () => requireAlive(spawned()));
});
