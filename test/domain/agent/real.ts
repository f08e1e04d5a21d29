import assert from "node:assert/strict";
import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import { EventType } from "../../../gen/retinue/v1/event_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import type { Agent } from "../../../src/domain/agent/agent.js";
import type { Context, Decision } from "../../../src/domain/agent/decision.js";
import { desired } from "../../../src/domain/agent/desired.js";
import type { FollowUpRecord } from "../../../src/domain/agent/follow-up.js";
import { invariantViolations } from "../../../src/domain/agent/invariants.js";
import { processesEnded } from "../../../src/domain/agent/kill.js";
import { DEFAULT_LIMITS } from "../../../src/domain/agent/limits.js";
import { isTerminal } from "../../../src/domain/agent/phase.js";
import { slotGranted } from "../../../src/domain/agent/settle.js";
import { timePassed } from "../../../src/domain/agent/time-passed.js";
import { turnEnded } from "../../../src/domain/agent/turn-ended.js";
import { turnLost } from "../../../src/domain/agent/turn-loss.js";
import { promptSent } from "../../../src/domain/agent/turn-report.js";
import { EXITED, fenceOf, spawnDecision } from "./fixtures.js";
import { LIMITS } from "./model.js";

const { DEFERRED, QUEUED, DELIVERED, CLEARED, REMOVED } = FollowUpState;

/** What may follow what in the log of one message. */
const FOLLOWS: Record<number, readonly FollowUpState[]> = {
  0: [DEFERRED, QUEUED],
  [DEFERRED]: [QUEUED, CLEARED, REMOVED],
  [QUEUED]: [DELIVERED, CLEARED, REMOVED],
  [DELIVERED]: [],
  [CLEARED]: [],
  [REMOVED]: [DEFERRED, QUEUED],
};

/** The agent under test, with a store that believes nothing but the events. */
export class Real {
  readonly limits = { ...DEFAULT_LIMITS, ...LIMITS };
  agent: Agent = spawnDecision({}, this.context(0)).agent;
  readonly records = new Map<string, FollowUpRecord>();
  readonly delivered: string[] = [];
  private ended = false;

  context(nowMs: number, slotWanted = false): Context {
    return { nowMs, slotWanted, limits: this.limits, ancestors: [] };
  }

  /** Commits a decision: what a store would write, and what it would refuse to. */
  commit<R>(decision: Decision<R>): R {
    assert.ok(!this.ended || decision.events.length === 0, "nothing follows the terminal phase");
    const prints = new Map(
      [
        ...this.agent.queued,
        ...this.agent.deferred,
        ...decision.agent.queued,
        ...decision.agent.deferred,
      ].map(({ followUpId, fingerprint }) => [followUpId, fingerprint]),
    );
    for (const { type, detail, runId } of decision.events) {
      if (this.ended) assert.fail(`${EventType[type]} after the terminal phase`);
      if (detail.case === "phase") this.ended = isTerminal(detail.value?.to ?? 0);
      if (detail.case !== "followUp") continue;
      const { followUpId = "", state = 0 } = detail.value?.followUp ?? {};
      const before = this.records.get(followUpId);
      const from = before?.state ?? 0;
      assert.ok(
        FOLLOWS[from]?.includes(state),
        `${followUpId}: ${FollowUpState[from]} → ${FollowUpState[state]}`,
      );
      // A message that is queued and delivered in one commit is in neither list: its digest comes from the log.
      const fingerprint = prints.get(followUpId) ?? before?.fingerprint ?? this.accepting;
      this.records.set(followUpId, {
        followUpId,
        state,
        fingerprint,
        runId: state === DELIVERED ? runId : 0,
      });
      if (state === DELIVERED) this.delivered.push(followUpId);
    }
    this.agent = decision.agent;
    assert.deepEqual(invariantViolations(this.agent), []);
    return decision.reply;
  }

  /** Digest of the request that is being decided. */
  accepting = "";

  /** The server comes back with what was stored, and nothing else. */
  restart(nowMs: number): void {
    this.agent = structuredClone(this.agent);
    if (this.agent.turn) this.lose("outage", this.context(nowMs));
  }

  lose(loss: "failure" | "fatal" | "outage", context: Context): void {
    this.commit(turnLost(this.agent, { ...fenceOf(this.agent), loss, error: EXITED }, context));
  }

  /** Does what `desired` says until it says no more: whatever was accepted must have come to its end. */
  drain(nowMs: number): void {
    let now = nowMs;
    for (let step = 0; step < 1000; step++) {
      const { effect, wakeAtMs } = desired(this.agent, now, this.limits);
      const context = this.context(now);
      switch (effect.type) {
        case "request-slot":
          assert.ok(this.commit(slotGranted(this.agent, context)), "a slot that was asked for is used");
          continue;
        case "run-turn":
          this.commit(promptSent(this.agent, effect, context));
          continue;
        case "hold-turn":
          this.commit(turnEnded(this.agent, { ...effect, summary: "" }, context));
          continue;
        case "cancel-turn":
        case "kill-turn":
          this.lose("failure", context);
          continue;
        case "end-processes":
          if (this.agent.phase === Phase.STOPPING) {
            this.commit(processesEnded(this.agent, context));
            continue;
          }
          break;
        default:
      }
      if (wakeAtMs === undefined) return;
      now = Math.max(now, wakeAtMs);
      this.commit(timePassed(this.agent, this.context(now)));
    }
    assert.fail(`never comes to rest in ${Phase[this.agent.phase]}`);
  }
}
