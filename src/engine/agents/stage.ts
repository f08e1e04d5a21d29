import type { Agent } from "../../domain/agent/agent.js";
import type { BudgetEffect } from "../../domain/agent/budget.js";
import { childNotified } from "../../domain/agent/children.js";
import type { Decision as AgentDecision, Context } from "../../domain/agent/decision.js";
import { killAgent } from "../../domain/agent/kill.js";
import type { Limits } from "../../domain/agent/limits.js";
import { resultOf } from "../../domain/agent/phase.js";
import { budgetFreed, overdrawn } from "../../domain/agent/update-agent.js";
import type { Change } from "../../storage/store.js";
import type { Decision } from "../door.js";
import type { View } from "../view.js";
import { changesOf } from "./changes.js";
import type { Masks } from "./masks.js";
import { type AgentValue, keys, look, type Value, type Values } from "./values.js";

/** Who makes a commit, and when. */
export interface Moment {
  readonly nowMs: number;
  readonly limits: Limits;
  /** Actor of the events, unless they say otherwise. */
  readonly actor: string;
  /** Somebody waits for the slot that this agent's turn may give back. */
  readonly slotWanted: boolean;
  readonly masks: Masks;
  newId(): string;
}

/**
 * One commit in the making, over as many agents as it takes: what a decision tells a parent, and whom a failure
 * takes along, are decided here and go into the same commit.
 */
export interface Stage {
  agent(uid: string): AgentValue | undefined;
  /** The agent; asking for one that was never there is a bug. */
  require(uid: string): AgentValue;
  look<S extends keyof Values>(sort: S, key: string): Values[S];
  contextOf(agent: Agent): Context;
  /** Takes a decision about one agent up, with everything that follows from it. */
  apply<R>(decision: AgentDecision<R>): R;
  put(key: string, value: Value): void;
  add(change: Change): void;
  /** The newest event of the agent so far, for receipts. */
  lastSeq(uid: string): number;
  done<R>(reply: R): Decision<Value, R>;
}

export function openStage(view: View<Value>, moment: Moment): Stage {
  const values = new Map<string, Value>();
  const changes: Change[] = [];

  const staged: View<Value> = { get: (key) => values.get(key) ?? view.get(key) };

  const stage: Stage = {
    agent: (uid) => look(staged, "agent", keys.agent(uid)),
    look: (sort, key) => look(staged, sort, key),
    put: (key, value) => void values.set(key, value),
    add: (change) => void changes.push(change),
    lastSeq: (uid) => stage.agent(uid)?.lastSeq ?? 0,
    done: (reply) => ({ values, changes, reply }),

    require(uid) {
      const value = stage.agent(uid);
      if (value === undefined) throw new Error(`agent ${uid} is not in the store`);
      return value;
    },

    contextOf(agent) {
      const { nowMs, limits, slotWanted } = moment;
      return { nowMs, limits, slotWanted, ancestors: ancestorsOf(agent) };
    },

    apply(decision) {
      const before = stage.agent(decision.agent.uid);
      if (before?.agent !== decision.agent || decision.events.length > 0) {
        const next = changesOf(before, decision, moment, changes, values);
        values.set(keys.agent(decision.agent.uid), { sort: "agent", value: next });
      }
      for (const notice of decision.toParent) notifyParent(decision.agent.parentUid, notice);
      if (decision.stopDescendants) stopBelow(decision.agent);
      tellBudget(decision.agent, decision.reply);
      return decision.reply;
    },
  };

  function ancestorsOf(agent: Agent): Agent[] {
    const found: Agent[] = [];
    for (let uid = agent.parentUid; uid !== ""; ) {
      const { agent: ancestor } = stage.require(uid);
      found.push(ancestor);
      uid = ancestor.parentUid;
    }
    return found;
  }

  function notifyParent(uid: string, notice: AgentDecision["toParent"][number]): void {
    const { agent: parent } = stage.require(uid);
    const input = { notice, followUpId: moment.newId() };
    stage.apply(childNotified(parent, input, stage.contextOf(parent)));
  }

  /** A budget that was overdrawn or freed concerns whoever draws on it. */
  function tellBudget(agent: Agent, reply: unknown): void {
    const { overBudget, freed } = (reply ?? {}) as Partial<BudgetEffect>;
    if (!overBudget && !freed) return;
    for (const child of agent.children) {
      const { agent: below } = stage.require(child.uid);
      if (overBudget) stage.apply(overdrawn(below, stage.contextOf(below)));
      else if (below.overdrawnBy !== "") stage.apply(budgetFreed(below, stage.contextOf(below)));
      tellBudget(stage.require(child.uid).agent, reply);
    }
  }

  function stopBelow(failed: Agent): void {
    const reason = `agent ${failed.key.path.join("/")} failed: ${resultOf(failed) || failed.lastError?.message || ""}`;
    for (const child of failed.children) killSubtree(stage, child.uid, reason);
  }

  return stage;
}

/** The agent and all that live below it, as of this commit: whatever is spawned meanwhile is among them or refused. */
export function killSubtree(stage: Stage, uid: string, reason: string): void {
  const { agent } = stage.require(uid);
  stage.apply(killAgent(agent, reason, stage.contextOf(agent)));
  for (const child of agent.children) killSubtree(stage, child.uid, reason);
}
