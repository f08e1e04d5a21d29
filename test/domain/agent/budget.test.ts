import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Phase, TurnOutcome, TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import type { Agent } from "../../../src/domain/agent/agent.js";
import {
  type BudgetLimits,
  budgetSpent,
  NO_USAGE,
  reservedOf,
  spentOf,
  subtreeSpentOf,
} from "../../../src/domain/agent/budget.js";
import { childNotified, childSpawned } from "../../../src/domain/agent/children.js";
import type { Decision } from "../../../src/domain/agent/decision.js";
import { clearFollowUps } from "../../../src/domain/agent/queue-edit.js";
import { slotGranted } from "../../../src/domain/agent/settle.js";
import { timePassed } from "../../../src/domain/agent/time-passed.js";
import { turnLost } from "../../../src/domain/agent/turn-loss.js";
import { budgetFreed, overdrawn, updateAgent } from "../../../src/domain/agent/update-agent.js";
import { usageReported } from "../../../src/domain/agent/usage-report.js";
import {
  at,
  done,
  EXITED,
  end,
  fenceOf,
  idsOf,
  lose,
  queueAll,
  refuses,
  resting,
  running,
  sound,
  spawned,
  start,
  starting,
  T0,
  tell,
} from "./fixtures.js";

function limits(more: Partial<BudgetLimits>): BudgetLimits {
  return {
    maxCostUsd: undefined,
    maxTokens: undefined,
    maxTurns: undefined,
    maxWallTimeMs: undefined,
    ...more,
  };
}
const spend = (agent: Agent, cost: number, tokens = 0, context = at()): Decision<unknown> =>
  sound(
    usageReported(
      agent,
      { ...fenceOf(agent), usage: { inputTokens: tokens, cachedInputTokens: 0, outputTokens: 0, cost } },
      context,
    ),
  );
const raise = (agent: Agent, more: Partial<BudgetLimits>, context = at()) =>
  sound(updateAgent(agent, { budget: limits(more), labels: undefined }, context)).agent;
const child = (budget?: BudgetLimits) => running({ path: ["root", "c"], budget });
const below = (parent: Agent, budget: BudgetLimits | undefined, context = at()) =>
  sound(childSpawned(parent, { uid: "root.c", path: ["root", "c"], budget }, context)).agent;

describe("a running turn and its budget (semantics 3)", () => {
  it("is interrupted at the first usage report over it, and ends OVER_BUDGET", () => {
    const { agent } = spend(running({ budget: limits({ maxCostUsd: 1 }) }), 1.5);
    assert.equal(agent.turn?.state, TurnState.INTERRUPTING);
    assert.equal(agent.turn?.interruption?.killAtMs, T0 + 10_000);
    const ended = end(agent).agent;
    assert.deepEqual([ended.lastTurn?.outcome, ended.needsInput?.cause], [TurnOutcome.OVER_BUDGET, "budget"]);
    assert.match(ended.needsInput?.text ?? "", /budget spent/);
  });
  it("is not interrupted by a report that meets it exactly; the next turn does not start", () => {
    const { agent } = spend(running({ budget: limits({ maxCostUsd: 1 }) }), 1);
    assert.equal(agent.turn?.state, TurnState.RUNNING);
    assert.equal(end(queueAll(agent, ["a"])).agent.needsInput?.cause, "budget");
  });
  it("counts tokens of all sorts", () => {
    assert.equal(
      spend(running({ budget: limits({ maxTokens: 10 }) }), 0, 11).agent.turn?.state,
      TurnState.INTERRUPTING,
    );
  });
  it("may be the last of maxTurns, and finishes", () => {
    const agent = spend(running({ budget: limits({ maxTurns: 1 }) }), 5).agent;
    assert.equal(agent.turn?.state, TurnState.RUNNING);
    const ended = end(queueAll(agent, ["a"])).agent;
    assert.deepEqual([ended.phase, ended.needsInput?.cause], [Phase.WAITING_FOR_INPUT, "budget"]);
  });
  it("is interrupted when the wall time is up", () => {
    const agent = running({ budget: limits({ maxWallTimeMs: 100 }) });
    assert.equal(timePassed(agent, at(T0 + 99)).agent, agent);
    const late = sound(timePassed(agent, at(T0 + 100)));
    assert.deepEqual([late.agent.turn?.interruption?.cause, late.reply.overBudget], ["budget", true]);
  });
  it("ends at once when it has not sent its prompt", () => {
    const agent = starting({ budget: limits({ maxWallTimeMs: 100 }) });
    assert.equal(timePassed(agent, at(T0 + 100)).agent.lastTurn?.outcome, TurnOutcome.OVER_BUDGET);
  });
  it("that ended by itself with its last report over the budget ended by itself", () => {
    const usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, cost: 2 };
    const { agent } = end(done(running({ budget: limits({ maxCostUsd: 1 }) })), { usage });
    assert.equal(agent.phase, Phase.COMPLETED);
  });
});

describe("a spent budget (semantics 3)", () => {
  const broke = () =>
    end(queueAll(spend(running({ budget: limits({ maxCostUsd: 1 }) }), 1).agent, ["a", "b"])).agent;
  it("WAITING 'budget spent', and messages stay QUEUED", () => {
    const agent = broke();
    assert.equal(agent.phase, Phase.WAITING_FOR_INPUT);
    assert.match(agent.needsInput?.text ?? "", /^budget spent/);
    assert.deepEqual(idsOf(agent.queued), ["a", "b"]);
  });
  it("no turn starts at spent + reserved ≥ budget, also when a slot is granted", () => {
    const pending = { ...spawned({ budget: limits({ maxWallTimeMs: 50 }) }) };
    const decision = sound(slotGranted(pending, at(T0 + 50)));
    assert.deepEqual([decision.reply, decision.agent.needsInput?.cause], [undefined, "budget"]);
  });
  it("update agent frees it", () => {
    const agent = raise(broke(), { maxCostUsd: 2 });
    assert.equal(agent.phase, Phase.PENDING);
    assert.deepEqual(start(agent).turn?.followUpIds, ["a"]);
  });
  it("an update that is not enough leaves it waiting", () => {
    assert.equal(raise(broke(), { maxCostUsd: 0.5 }).phase, Phase.WAITING_FOR_INPUT);
  });
  it("the limits are replaced whole: what is not named is no limit any more", () => {
    assert.equal(raise(broke(), { maxTurns: 100 }).phase, Phase.PENDING);
  });
  it("with the messages cleared it is no reason to wait any more", () => {
    assert.equal(clearFollowUps(broke(), at()).agent.needsInput?.cause, "plain-end");
  });
  it("a message more waits with the others", () => {
    assert.deepEqual(idsOf(queueAll(broke(), ["c"]).queued), ["a", "b", "c"]);
  });
  const bad: [string, Partial<BudgetLimits>][] = [
    ["no dollars", { maxCostUsd: 0 }],
    ["negative dollars", { maxCostUsd: -1 }],
    ["endless dollars", { maxCostUsd: Infinity }],
    ["no tokens", { maxTokens: 0 }],
    ["half a turn", { maxTurns: 0.5 }],
    ["no time", { maxWallTimeMs: 0 }],
  ];
  for (const [row, more] of bad) {
    it(`a limit of ${row} is refused, at spawn and by update`, () => {
      const refusal = { code: Code.INVALID_ARGUMENT, reason: "INVALID_FIELD" };
      refuses(() => spawned({ budget: limits(more) }), refusal);
      refuses(() => raise(resting(), more), refusal);
    });
  }
});

describe("budgets of children (semantics 3)", () => {
  const rich = () => running({ budget: limits({ maxCostUsd: 10 }) });
  it("a child's budget is reserved from its parent's", () => {
    const parent = below(rich(), limits({ maxCostUsd: 4 }));
    assert.equal(reservedOf(parent).costUsd, 4);
    assert.equal(spentOf(parent).costUsd, 0);
  });
  it("what is unspent returns when it ends", () => {
    const parent = below(rich(), limits({ maxCostUsd: 4 }));
    const ended = end(done(spend(child(limits({ maxCostUsd: 4 })), 1).agent));
    const after = tell(parent, ended);
    assert.deepEqual([reservedOf(after).costUsd, spentOf(after).costUsd], [0, 1]);
  });
  it("no spawn at spent + reserved ≥ budget: RESOURCE_EXHAUSTED, BUDGET_SPENT", () => {
    const refusal = { code: Code.RESOURCE_EXHAUSTED, reason: "BUDGET_SPENT" };
    refuses(() => below(spend(rich(), 10).agent, undefined), refusal);
    refuses(
      () =>
        childSpawned(
          below(rich(), limits({ maxCostUsd: 10 })),
          { uid: "x", path: ["root", "x"], budget: undefined },
          at(),
        ),
      refusal,
    );
  });
  it("a child that wants more than is left is refused", () => {
    const refusal = { code: Code.RESOURCE_EXHAUSTED, reason: "BUDGET_SPENT" };
    refuses(() => below(spend(rich(), 7).agent, limits({ maxCostUsd: 4 })), refusal);
    assert.equal(reservedOf(below(spend(rich(), 6).agent, limits({ maxCostUsd: 4 }))).costUsd, 4);
  });
  it("reservations count for the parent's own turns", () => {
    const parent = below(spend(rich(), 6).agent, limits({ maxCostUsd: 4 }));
    assert.match(budgetSpent(parent, T0) ?? "", /budget spent/);
  });
  it("a child without one draws on its parent's, as it goes", () => {
    const parent = tell(below(rich(), undefined), spend(child(), 3));
    assert.deepEqual([spentOf(parent).costUsd, reservedOf(parent).costUsd], [3, 0]);
    const after = tell(parent, end(done(spend(child(), 3).agent)));
    assert.equal(spentOf(after).costUsd, 3, "counted once");
  });
  it("turns of such a child count from their start", () => {
    const decision = slotGranted(spawned({ path: ["root", "c"] }), at());
    const parent = below(running({ budget: limits({ maxTurns: 5 }) }), undefined);
    assert.equal(spentOf(tell(parent, decision)).turns, 2);
  });
  it("a budget in another dimension does not keep it from drawing", () => {
    const own = limits({ maxTurns: 5 });
    const parent = tell(below(rich(), own), spend(child(own), 3));
    assert.equal(spentOf(parent).costUsd, 3);
  });
  it("over the parent's budget: the parent's turn is interrupted, and the drawing child's too", () => {
    const parent = below(rich(), undefined);
    const notice = spend(child(), 11).toParent[0];
    assert.ok(notice);
    const decision = sound(childNotified(parent, { notice, followUpId: "n" }, at()));
    assert.deepEqual([decision.reply.overBudget, decision.agent.turn?.interruption?.cause], [true, "budget"]);
    const stopped = sound(overdrawn(child(), at(T0, { ancestors: [decision.agent] }))).agent;
    assert.equal(stopped.turn?.interruption?.cause, "budget");
    assert.equal(stopped.overdrawnBy, "root");
  });
  it("a child with a budget of its own is not stopped by its parent's", () => {
    const parent = spend(rich(), 11).agent;
    const own = child(limits({ maxCostUsd: 1 }));
    assert.equal(overdrawn(own, at(T0, { ancestors: [parent] })).agent, own);
  });
  it("a drawing child starts no turn when the budget above is spent, not even the next one", () => {
    const parent = spend(rich(), 10).agent;
    const context = at(T0, { ancestors: [parent] });
    const pending = sound(slotGranted(spawned({ path: ["root", "c"] }), context));
    assert.deepEqual([pending.reply, pending.agent.needsInput?.cause], [undefined, "budget"]);
    assert.match(pending.agent.needsInput?.text ?? "", /that of root/);
    assert.equal(end(queueAll(child(), ["a"]), {}, context).agent.needsInput?.cause, "budget");
  });
  it("is freed when the budget above is raised", () => {
    const parent = spend(rich(), 10).agent;
    const held = slotGranted(spawned({ path: ["root", "c"] }), at(T0, { ancestors: [parent] })).agent;
    const freed = sound(budgetFreed(held, at())).agent;
    assert.equal(freed.phase, Phase.PENDING);
    assert.ok(slotGranted(freed, at(T0, { ancestors: [raise(parent, { maxCostUsd: 20 })] })).reply);
  });
  it("what comes back is told, so that those below who are held can try again", () => {
    const freed = (parent: Agent, child: Decision<unknown>) =>
      child.toParent.map((notice) => childNotified(parent, { notice, followUpId: "n" }, at()).reply.freed);
    const own = limits({ maxCostUsd: 4 });
    assert.deepEqual(freed(below(rich(), own), end(done(spend(child(own), 1).agent))), [true]);
    assert.deepEqual(freed(below(rich(), undefined), spend(child(), 3)), [false]);
    assert.equal(updateAgent(rich(), { budget: limits({}), labels: undefined }, at()).reply.freed, true);
  });
  it("a grandchild's reservation counts at the root when its parent has no budget", () => {
    const middle = below(rich(), undefined);
    const grand = childSpawned(
      child(),
      { uid: "g", path: ["root", "c", "g"], budget: limits({ maxCostUsd: 4 }) },
      at(),
    );
    assert.equal(reservedOf(tell(middle, grand)).costUsd, 4);
  });
  it("an update of a child's budget must fit into its parent's, its old share given back first", () => {
    const parent = below(rich(), limits({ maxCostUsd: 6 }));
    const context = at(T0, { ancestors: [parent] });
    const agent = child(limits({ maxCostUsd: 6 }));
    refuses(() => raise(agent, { maxCostUsd: 11 }, context), {
      code: Code.RESOURCE_EXHAUSTED,
      reason: "BUDGET_SPENT",
    });
    const raised = updateAgent(agent, { budget: limits({ maxCostUsd: 10 }), labels: undefined }, context);
    assert.equal(reservedOf(tell(parent, raised)).costUsd, 10);
  });
  it("what a child with a budget of its own uses is on its parent's bill while it lives", () => {
    const own = limits({ maxCostUsd: 4, maxTokens: 9, maxTurns: 9 });
    const parent = tell(below(rich(), own), spend(child(own), 2));
    assert.deepEqual([subtreeSpentOf(parent).costUsd, spentOf(parent).costUsd], [2, 0]);
  });
  it("a turn that fails has its price", () => {
    const agent = running();
    const usage = { ...NO_USAGE, cost: 3 };
    const lost = turnLost(agent, { ...fenceOf(agent), loss: "failure", error: EXITED, usage }, at());
    assert.deepEqual([lost.agent.usage.cost, lost.agent.turn?.usage.cost], [3, 3]);
  });
  it("a report of nothing is no event", () => {
    assert.deepEqual(spend(running(), 0).events, []);
  });
  it("what an ended child used is not lost when it failed", () => {
    const parent = tell(
      below(rich(), limits({ maxCostUsd: 4 })),
      lose(spend(child(limits({ maxCostUsd: 4 })), 2).agent, "fatal"),
    );
    assert.equal(spentOf(parent).costUsd, 2);
  });
});

describe("update agent: labels (semantics 3 and 8)", () => {
  it("are replaced whole when present, and stay otherwise", () => {
    const agent = running({ labels: { a: "1", b: "2" } });
    assert.deepEqual(updateAgent(agent, { budget: undefined, labels: { c: "3" } }, at()).agent.labels, {
      c: "3",
    });
    assert.equal(raise(agent, { maxTurns: 9 }).labels, agent.labels);
  });
  it("more than 16: RESOURCE_EXHAUSTED", () => {
    const labels = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`l${i}`, ""]));
    const refusal = { code: Code.RESOURCE_EXHAUSTED, reason: "LABELS_FULL" };
    refuses(() => spawned({ labels }), refusal);
    refuses(() => updateAgent(running(), { budget: undefined, labels }, at()), refusal);
  });
  it("an agent that has ended is NOT_FOUND", () => {
    refuses(() => raise(end(done(running())).agent, {}), { code: Code.NOT_FOUND, reason: "AGENT_TERMINAL" });
  });
});
