import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import { EventType } from "../../../gen/retinue/v1/event_pb.js";
import { resourceExhausted } from "../fault.js";
import type { Agent, Child } from "./agent.js";
import { agentIdMessage } from "./agent-id.js";
import {
  addSpent,
  type BudgetEffect,
  type BudgetLimits,
  hasFreed,
  NOTHING_SPENT,
  overBudget,
  shortOf,
  spentInChain,
} from "./budget.js";
import type { ChildName, ChildNotice } from "./child-notice.js";
import {
  type Context,
  change,
  type Decision,
  type Draft,
  decided,
  openDraft,
  type Reported,
  record,
  unchanged,
} from "./decision.js";
import { cutTurn } from "./interrupt.js";
import { tryCancel } from "./kill.js";
import { isAlive, isTerminal } from "./phase.js";
import { enqueuePlatform } from "./platform-message.js";
import { promoteDue } from "./queue.js";
import { dropFollowUps } from "./queue-edit.js";
import { settle } from "./settle.js";
import { tellSpent } from "./spent.js";
import { type Fence, fencedTurn } from "./turn.js";

/** The parent's part of a spawn: the child counts, and its budget is set aside. */
export function childSpawned(
  parent: Agent,
  child: ChildName & { readonly budget: BudgetLimits | undefined },
  context: Context,
): Decision {
  const draft = openDraft(parent);
  promoteDue(draft, context.nowMs);
  requireBudget(draft.agent, child.budget, context);
  const entry: Child = {
    uid: child.uid,
    name: nameIn(child),
    waitsFor: undefined,
    budget: child.budget,
    spent: NOTHING_SPENT,
    reserved: NOTHING_SPENT,
  };
  change(draft, { children: [...draft.agent.children, entry] });
  recordChild(draft, EventType.CHILD_SPAWNED, child, Phase.PENDING, "");
  tellSpent(draft);
  settle(draft, context);
  return decided(draft, undefined);
}

function requireBudget(parent: Agent, budget: BudgetLimits | undefined, context: Context): void {
  const chain = [parent, ...context.ancestors];
  const spent = spentInChain(chain, context.nowMs);
  if (spent !== undefined)
    throw resourceExhausted("BUDGET_SPENT", `agent ${spent.by.key.path.join("/")}: ${spent.why}`);
  const short = budget && shortOf(chain, budget, context.nowMs);
  if (short !== undefined) throw resourceExhausted("BUDGET_SPENT", `budget: ${short}`);
}

/** What a child's commit tells its parent, in that same commit. */
export function childNotified(
  parent: Agent,
  input: { readonly notice: ChildNotice; readonly followUpId: string },
  context: Context,
): Decision<BudgetEffect> {
  const { notice, followUpId } = input;
  const nothing: BudgetEffect = { overBudget: false, freed: false };
  const child = parent.children.find(({ uid }) => uid === notice.child.uid);
  if (child === undefined) return unchanged(parent, nothing);
  if (isTerminal(parent.phase)) return toTheDead(parent, notice);
  const draft = openDraft(parent);
  promoteDue(draft, context.nowMs);
  switch (notice.type) {
    case "waits":
      replaceChild(draft, { ...child, waitsFor: notice.text });
      tell(draft, notice.child, followUpId, `${notice.asked ? "asks" : "waits"}: ${notice.text}`, context);
      break;
    case "moves":
      replaceChild(draft, { ...child, waitsFor: undefined });
      break;
    case "ended":
      childEnded(draft, notice, followUpId, context);
      break;
    case "spent": {
      const { budget, spent, reserved } = notice;
      replaceChild(draft, { ...child, budget, spent, reserved });
      tellSpent(draft);
    }
  }
  const over = overBudget(draft.agent, context.nowMs) !== undefined;
  if (over) cutTurn(draft, "BUDGET", context);
  settle(draft, context);
  return decided(draft, { overBudget: over, freed: hasFreed(parent, draft.agent) });
}

/**
 * A failed agent's children are stopped after it. Its log has ended and nobody is told, but its path is free again only
 * when the last of them is gone.
 */
function toTheDead(parent: Agent, notice: ChildNotice): Decision<BudgetEffect> {
  const draft = openDraft(parent);
  if (notice.type === "ended") dropChild(draft, notice);
  return decided(draft, { overBudget: false, freed: false });
}

function dropChild(draft: Draft, { child, spent }: Extract<ChildNotice, { type: "ended" }>): void {
  const { children, endedChildrenSpent } = draft.agent;
  change(draft, {
    children: children.filter(({ uid }) => uid !== child.uid),
    endedChildrenSpent: addSpent(endedChildrenSpent, spent),
  });
}

function childEnded(
  draft: Draft,
  notice: Extract<ChildNotice, { type: "ended" }>,
  followUpId: string,
  context: Context,
): void {
  const { child, phase, result } = notice;
  const { agent } = draft;
  dropChild(draft, notice);
  recordChild(draft, EventType.CHILD_ENDED, child, phase, result);
  tellSpent(draft);
  const handedOver = agent.turn?.handedOver.includes(child.uid) ?? false;
  const how = Phase[phase].toLowerCase();
  if (!handedOver) tell(draft, child, followUpId, result === "" ? how : `${how}: ${result}`, context);
  tryCancel(draft, context);
}

/** News for the agent to act on; one that has declared the work done is not woken by it. */
function tell(draft: Draft, child: ChildName, followUpId: string, news: string, context: Context): void {
  const { agent } = draft;
  if (!isAlive(agent.phase) || agent.lastWord?.type === "complete") return;
  const message = { followUpId, description: `child ${nameIn(child)} ${news}`, tasks: [] };
  enqueuePlatform(draft, message, "child", child.uid, context.nowMs);
}

/**
 * The wait tool has told the agent about a child in this run: the message that would say the same is taken back.
 */
export function childHandedOver(
  agent: Agent,
  input: Fence & { readonly childUid: string; readonly ended: boolean },
  context: Context,
): Decision<Reported> {
  const turn = fencedTurn(agent, input);
  if (turn === undefined) return unchanged(agent, { stale: true });
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  const { childUid, ended } = input;
  dropFollowUps(draft, (queued) => queued.childUid === childUid, "told by the wait tool");
  if (ended) change(draft, { turn: { ...turn, handedOver: [...turn.handedOver, childUid] } });
  return decided(draft, { stale: false });
}

function replaceChild(draft: Draft, child: Child): void {
  change(draft, { children: draft.agent.children.map((other) => (other.uid === child.uid ? child : other)) });
}

function recordChild(draft: Draft, type: EventType, child: ChildName, phase: Phase, result: string): void {
  const id = agentIdMessage({ ...draft.agent.key, path: child.path }, child.uid);
  record(draft, type, { case: "child", value: { child: id, phase, result } });
}

function nameIn(child: ChildName): string {
  return child.path.at(-1) ?? "";
}
