import type { AgentKey } from "../domain/agent/agent.js";
import { actorOf, type Caller, providerName } from "../domain/caller.js";
import type { AuditChange, AuditRecord } from "../storage/store.js";
import type { Clock } from "./clock.js";

/** Who does something, by which RPC, and why: what every audited change is told. */
export interface Act {
  readonly caller: Caller;
  readonly action: string;
  readonly justification: string;
}

/** How an agent is named in audit: `agent/<provider_name>/<account>/<workspace>/<path>`. */
export function agentTarget({ ownerProvider, account, workspace, path }: AgentKey): string {
  return `agent/${providerName(ownerProvider)}/${account}/${workspace}/${path.join("/")}`;
}

/** The least ID of a record of this time and later. */
export function auditIdAt(ms: number): string {
  return Math.max(0, ms).toString(36).padStart(9, "0");
}

export interface Audited {
  readonly tenant: string;
  readonly target: string;
  readonly generationBefore: number;
  readonly generationAfter: number;
}

/** Makes audit records whose ids sort by time, also when the clock steps back or a millisecond sees many. */
export interface Auditor {
  done(act: Act, what: Audited): AuditChange;
  refused(act: Act, tenant: string, target: string): AuditChange;
}

export function createAuditor(clock: Clock): Auditor {
  let lastMs = 0;
  let counter = 0;

  function newAuditId(nowMs: number): string {
    counter = nowMs > lastMs ? 0 : counter + 1;
    lastMs = Math.max(lastMs, nowMs);
    return `${auditIdAt(lastMs)}-${counter.toString(36).padStart(5, "0")}-${clock.newId().slice(0, 8)}`;
  }

  function record(act: Act, outcome: AuditRecord["outcome"], what: Audited): AuditChange {
    const nowMs = clock.nowMs();
    return {
      type: "audit",
      record: {
        auditId: newAuditId(nowMs),
        atMs: nowMs,
        tenant: what.tenant,
        actor: actorOf(act.caller),
        keyId: act.caller.keyId,
        action: act.action,
        target: what.target,
        outcome,
        justification: act.justification,
        generationBefore: what.generationBefore,
        generationAfter: what.generationAfter,
      },
    };
  }

  return {
    done: (act, what) => record(act, "DONE", what),
    refused: (act, tenant, target) =>
      record(act, "REFUSED", { tenant, target, generationBefore: 0, generationAfter: 0 }),
  };
}
