import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import type { Agent } from "../../domain/agent/agent.js";
import type { FollowUp, FollowUpRecord } from "../../domain/agent/follow-up.js";
import { isTerminal } from "../../domain/agent/phase.js";
import type { AgentRecord, AgentRow, FollowUpRow } from "../../storage/agent-rows.js";
import type { AgentValue } from "./values.js";

/** Kept in rows of their own, because they are large or because others look for them. */
type Apart = "description" | "expectedOutput" | "tasks" | "queued" | "deferred";

export function rowOf({ agent, version, lastSeq }: AgentValue): AgentRow {
  const { description: _d, expectedOutput: _e, tasks: _t, queued: _q, deferred: _f, ...state } = agent;
  const ended = isTerminal(agent.phase);
  return {
    uid: agent.uid,
    tenant: agent.key.tenant,
    ownerProvider: agent.key.ownerProvider,
    account: agent.key.account,
    workspace: agent.key.workspace,
    path: agent.key.path.join("/"),
    parentUid: agent.parentUid,
    phase: agent.phase,
    live: !ended,
    unsettled: !ended || agent.kill?.processesGone === false,
    version,
    lastSeq,
    createdAtMs: agent.createdAtMs,
    endedAtMs: agent.endedAtMs,
    state: JSON.stringify(state),
  };
}

/** An agent as lists show it, without what is kept apart. */
export function listedAgentOf(row: AgentRow): Agent {
  const apart = { description: "", expectedOutput: "", tasks: [], queued: [], deferred: [] };
  return { ...(JSON.parse(row.state) as Omit<Agent, Apart>), ...apart };
}

export function agentOf({ row, texts, tasks, followUps }: AgentRecord): AgentValue {
  const messages = followUps.map((followUp) => JSON.parse(followUp.body) as FollowUp);
  const state = JSON.parse(row.state) as Omit<Agent, Apart>;
  const agent: Agent = {
    ...state,
    description: texts.description,
    expectedOutput: texts.expectedOutput,
    tasks: JSON.parse(tasks),
    queued: messages.filter(({ state }) => state === FollowUpState.QUEUED).sort((a, b) => a.place - b.place),
    deferred: messages.filter(({ state }) => state === FollowUpState.DEFERRED).sort(byDue),
  };
  return { agent, version: row.version, lastSeq: row.lastSeq };
}

function byDue(a: FollowUp, b: FollowUp): number {
  return (a.deliverAtMs ?? 0) - (b.deliverAtMs ?? 0) || a.arrival - b.arrival;
}

export function followUpRecordOf({ followUpId, state, fingerprint, runId }: FollowUpRow): FollowUpRecord {
  return { followUpId, state, fingerprint, runId };
}
