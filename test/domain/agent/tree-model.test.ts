import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import type { Agent } from "../../../src/domain/agent/agent.js";
import { type BudgetEffect, spentInChain } from "../../../src/domain/agent/budget.js";
import { childNotified, childSpawned } from "../../../src/domain/agent/children.js";
import type { Context, Decision } from "../../../src/domain/agent/decision.js";
import { desired } from "../../../src/domain/agent/desired.js";
import { invariantViolations } from "../../../src/domain/agent/invariants.js";
import { killAgent, processesEnded } from "../../../src/domain/agent/kill.js";
import { DEFAULT_LIMITS } from "../../../src/domain/agent/limits.js";
import { isAlive, isTerminal } from "../../../src/domain/agent/phase.js";
import { queueAdd } from "../../../src/domain/agent/queue-add.js";
import { slotGranted } from "../../../src/domain/agent/settle.js";
import { timePassed } from "../../../src/domain/agent/time-passed.js";
import { turnEnded } from "../../../src/domain/agent/turn-ended.js";
import { turnLost } from "../../../src/domain/agent/turn-loss.js";
import { askedInput, declaredDone, promptSent } from "../../../src/domain/agent/turn-report.js";
import { budgetFreed, overdrawn } from "../../../src/domain/agent/update-agent.js";
import { Fault } from "../../../src/domain/fault.js";
import { EXITED, fenceOf, followUp, KNOWN, spawnDecision } from "./fixtures.js";

type Word = "ask" | "done" | "plain" | "crash" | "fatal";

/** A tree of agents and the smallest door that keeps it together. */
class Tree {
  nowMs = 0;
  readonly agents = new Map<string, Agent>();
  private ids = 0;

  constructor(maxTurns: number | undefined) {
    this.agents.set("root", spawnDecision({ budget: budgetOf(maxTurns) }, this.context("root")).agent);
  }

  context(uid: string): Context {
    const ancestors: Agent[] = [];
    for (let up = parentOf(uid); up !== ""; up = parentOf(up)) ancestors.push(this.agents.get(up) as Agent);
    return { nowMs: this.nowMs, slotWanted: this.ids % 3 === 0, limits: DEFAULT_LIMITS, ancestors };
  }

  below(uid: string): string[] {
    return [...this.agents.keys()].filter((other) => other.startsWith(`${uid}.`));
  }

  /** One commit: the agent, whoever is told above it, and whoever is stopped below it. */
  commit<R>(uid: string, decision: Decision<R>): R {
    this.agents.set(uid, decision.agent);
    assert.deepEqual(invariantViolations(decision.agent), [], uid);
    if (decision.stopDescendants) for (const other of this.below(uid)) this.kill(other);
    for (const notice of decision.toParent) {
      const up = parentOf(uid);
      const input = { notice, followUpId: `news-${++this.ids}` };
      this.settleBudget(
        up,
        this.commit(up, childNotified(this.agents.get(up) as Agent, input, this.context(up))),
      );
    }
    return decision.reply;
  }

  settleBudget(uid: string, effect: BudgetEffect): void {
    for (const other of this.below(uid)) {
      const get = () => this.agents.get(other) as Agent;
      if (effect.overBudget) this.commit(other, overdrawn(get(), this.context(other)));
      if (effect.freed) this.commit(other, budgetFreed(get(), this.context(other)));
    }
  }

  kill(uid: string): void {
    this.commit(uid, killAgent(this.agents.get(uid) as Agent, "killed", this.context(uid)));
  }

  spawn(parent: string, name: string, maxTurns: number | undefined): void {
    const uid = `${parent}.${name}`;
    const above = this.agents.get(parent) as Agent;
    const before = this.agents.get(uid);
    const free =
      before === undefined || (isTerminal(before.phase) && this.below(uid).every((u) => this.ended(u)));
    if (!isAlive(above.phase) || !free || above.key.path.length > 3) return;
    const path = [...above.key.path, name];
    const budget = budgetOf(maxTurns);
    try {
      const child = { uid, path, budget };
      this.commit(parent, childSpawned(above, child, this.context(parent)));
      this.agents.set(uid, spawnDecision({ path, uid, budget }, this.context(uid)).agent);
    } catch (error) {
      assert.ok(error instanceof Fault && error.reason === "BUDGET_SPENT");
    }
  }

  ended(uid: string): boolean {
    return isTerminal((this.agents.get(uid) as Agent).phase);
  }

  send(uid: string, deferMs: number | undefined): void {
    const agent = this.agents.get(uid) as Agent;
    if (!isAlive(agent.phase)) return;
    const request = followUp(`f${++this.ids}`, {
      deliverAtMs: deferMs === undefined ? undefined : this.nowMs + deferMs,
    });
    const input = {
      request,
      sender: "x/y",
      mintedId: "",
      existing: undefined,
      persona: undefined,
      known: KNOWN,
    };
    this.commit(uid, queueAdd(agent, input, this.context(uid)));
  }

  /** Does what `desired` says for one agent; the turn says `word`. Returns whether there was anything to do. */
  step(uid: string, word: Word): boolean {
    const agent = this.agents.get(uid) as Agent;
    const { effect, wakeAtMs } = desired(agent, this.nowMs, DEFAULT_LIMITS);
    const context = this.context(uid);
    switch (effect.type) {
      case "request-slot":
        this.commit(uid, slotGranted(agent, context));
        return true;
      case "run-turn":
        this.commit(uid, promptSent(agent, effect, context));
        return true;
      case "hold-turn":
        this.finish(uid, agent, word, context);
        return true;
      case "cancel-turn":
      case "kill-turn":
        this.commit(uid, turnLost(agent, { ...effect, loss: "failure", error: EXITED }, context));
        return true;
      case "end-processes":
        if (agent.phase !== Phase.STOPPING) break;
        this.commit(uid, processesEnded(agent, context));
        return true;
      default:
    }
    if (wakeAtMs === undefined) return false;
    this.nowMs = Math.max(this.nowMs, wakeAtMs);
    this.settleBudget(uid, this.commit(uid, timePassed(agent, this.context(uid))));
    return true;
  }

  finish(uid: string, agent: Agent, word: Word, context: Context): void {
    const fence = fenceOf(agent);
    if (word === "crash" || word === "fatal") {
      const loss = word === "crash" ? "failure" : "fatal";
      this.commit(uid, turnLost(agent, { ...fence, loss, error: EXITED }, context));
      return;
    }
    if (word === "ask") this.commit(uid, askedInput(agent, { ...fence, question: `${uid}?` }, context));
    if (word === "done") this.commit(uid, declaredDone(agent, { ...fence, result: uid }, context));
    const now = this.agents.get(uid) as Agent;
    this.commit(uid, turnEnded(now, { ...fence, summary: uid }, this.context(uid)));
  }
}

function parentOf(uid: string): string {
  return uid.split(".").slice(0, -1).join(".");
}

function budgetOf(maxTurns: number | undefined): Agent["budget"] {
  return maxTurns === undefined
    ? undefined
    : { maxCostUsd: undefined, maxTokens: undefined, maxTurns, maxWallTimeMs: undefined };
}

const word = fc.constantFrom<Word>("ask", "done", "plain", "plain", "plain", "crash", "fatal");
const turns = fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined, freq: 2 });
const act = fc.oneof(
  { weight: 30, arbitrary: fc.record({ type: fc.constant("step" as const), at: fc.nat(), word }) },
  {
    weight: 9,
    arbitrary: fc.record({
      type: fc.constant("spawn" as const),
      at: fc.nat(),
      name: fc.constantFrom("a", "b"),
      turns,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("send" as const),
      at: fc.nat(),
      deferMs: fc.option(fc.constant(5000), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("kill" as const), at: fc.nat() }) },
);

it("whatever happens in a tree, in the end nobody sleeps on somebody who waits: a caller was told", (t) => {
  const seed = process.env.SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.SEED);
  console.log(`tree test: SEED=${seed}`);
  const ends = new Map<string, number>();
  fc.assert(
    fc.property(turns, fc.array(act, { maxLength: 60, size: "max" }), (maxTurns, acts) => {
      const tree = new Tree(maxTurns);
      for (const one of acts) {
        const uids = [...tree.agents.keys()];
        const uid = uids[one.at % uids.length] as string;
        if (one.type === "step") tree.step(uid, one.word);
        else if (one.type === "spawn") tree.spawn(uid, one.name, one.turns);
        else if (one.type === "send") tree.send(uid, one.deferMs);
        else for (const other of [uid, ...tree.below(uid)]) tree.kill(other);
      }
      let steps = 0;
      while ([...tree.agents.keys()].map((uid) => tree.step(uid, "plain")).includes(true)) {
        assert.ok(++steps < 500, "comes to rest");
      }
      for (const [uid, agent] of tree.agents) {
        const phase = Phase[agent.phase];
        ends.set(phase, (ends.get(phase) ?? 0) + 1);
        assert.ok(isTerminal(agent.phase) || agent.phase === Phase.WAITING_FOR_INPUT, `${uid} is ${phase}`);
        const held = agent.queued.length > 0;
        if (held)
          assert.ok(spentInChain([agent, ...tree.context(uid).ancestors], tree.nowMs), "only a budget holds");
        const above = parentOf(uid);
        if (above !== "" && !isTerminal(agent.phase)) assert.ok(!tree.ended(above), "no orphans");
      }
    }),
    { numRuns: Number(process.env.RUNS ?? 400), seed, includeErrorInReport: true },
  );
  t.diagnostic(`agents ended in ${JSON.stringify(Object.fromEntries(ends))}`);
});
