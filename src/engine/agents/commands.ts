import type { Agent } from "../../domain/agent/agent.js";
import type { Decision as AgentDecision, Context } from "../../domain/agent/decision.js";
import type { FollowUpRequest } from "../../domain/agent/follow-up.js";
import type { Limits } from "../../domain/agent/limits.js";
import { type PlatformMessage, queuePlatformMessage } from "../../domain/agent/platform-message.js";
import { queueAdd, type Receipt } from "../../domain/agent/queue-add.js";
import { actorOf } from "../../domain/caller.js";
import type { Schemas } from "../../schemas/schemas.js";
import type { Store } from "../../storage/store.js";
import { type Act, type Auditor, agentTarget } from "../audit.js";
import type { Clock } from "../clock.js";
import type { Agents } from "./agents.js";
import type { Documents } from "./documents.js";
import type { Launches } from "./launch.js";
import type { AgentRef } from "./live-paths.js";
import { schemaViolationOf } from "./output-schema.js";
import { killSubtree, type Stage } from "./stage.js";
import { keys } from "./values.js";

/** What callers do to an agent that exists: each a single commit with its audit record. */
export interface Commands {
  queue(
    row: AgentRef,
    request: FollowUpRequest,
    act: Act,
    from?: MessageFrom,
  ): Promise<Receipt & { readonly seq: number }>;
  /**
   * Queues a message that nobody wrote, for example a review comment, with its (ephemeral) tasks. The same `followUpId`
   * again adds nothing, so that a webhook may be delivered twice. Not audited: no caller acts.
   */
  queuePlatformMessage(
    row: Pick<AgentRef, "uid">,
    message: PlatformMessage,
  ): Promise<{ readonly added: boolean }>;
  kill(row: AgentRef, act: Act): Promise<void>;
  /** Any rule of the domain that concerns one agent. */
  decide<R>(row: AgentRef, act: Act, rule: (agent: Agent, context: Context) => AgentDecision<R>): Promise<R>;
}

/** An agent that speaks to a child of its own. */
export interface MessageFrom {
  readonly sender: string;
  /** Refuses what has become late, in the commit that queues. */
  readonly guard: (stage: Stage) => void;
}

export interface CommandsOptions {
  readonly agents: Agents;
  readonly documents: Documents;
  readonly schemas: Pick<Schemas, "check">;
  readonly limits: Limits;
  readonly launches: Launches;
  readonly store: Store;
  readonly auditor: Auditor;
  readonly clock: Clock;
}

export function createCommands(options: CommandsOptions): Commands {
  const { agents, documents, launches, store, auditor, clock } = options;

  function audit(stage: Stage, agent: Agent, act: Act): void {
    const what = {
      tenant: agent.key.tenant,
      target: agentTarget(agent.key),
      generationBefore: 0,
      generationAfter: 0,
    };
    stage.add(auditor.done(act, what));
  }

  /** A change that came to nothing leaves no record. */
  function applied<R>(stage: Stage, before: Agent, decision: AgentDecision<R>, act: Act): R {
    if (decision.agent !== before || decision.events.length > 0) audit(stage, before, act);
    return stage.apply(decision);
  }

  return {
    decide(row, act, rule) {
      return agents.change(actorOf(act.caller), (stage) => {
        const { agent } = stage.require(row.uid);
        return applied(stage, agent, rule(agent, stage.contextOf(agent)), act);
      });
    },

    async queue(row, request, act, from) {
      const { uid, tenant } = row;
      const persona = request.agent === "" ? undefined : await documents.persona(tenant, request.agent);
      const models = [request.model, persona?.settings?.model ?? ""];
      const backendOf = await documents.backends(tenant, models);
      const requireProgram = await launches.checked(tenant, models);
      const schemaViolation = await schemaViolationOf(options, request.outputSchema);
      const known = { backendOf, schemaViolation };
      const sender = from?.sender ?? actorOf(act.caller);
      const mintedId = clock.newId();
      let seq = 0;
      const receipt = await agents.change(sender, (stage) => {
        from?.guard(stage);
        const { agent, lastSeq } = stage.require(uid);
        const named = request.followUpId;
        const existing = named === "" ? undefined : stage.look("followUp", keys.followUp(uid, named));
        const input = { request, sender, mintedId, existing, persona, known };
        const decision = queueAdd(agent, input, stage.contextOf(agent));
        requireProgram(request.model);
        seq = acceptedSeq(decision, lastSeq);
        return applied(stage, agent, decision, act);
      });
      // A repeated message was accepted by an earlier event.
      if (!receipt.added) seq = (await store.followUp(uid, receipt.followUpId))?.seq ?? 0;
      return { ...receipt, seq };
    },

    queuePlatformMessage({ uid }, message) {
      return agents.change("system", (stage) => {
        const { agent } = stage.require(uid);
        const existing = stage.look("followUp", keys.followUp(uid, message.followUpId));
        return stage.apply(queuePlatformMessage(agent, { message, existing }, stage.contextOf(agent)));
      });
    },

    kill(row, act) {
      return agents.change(actorOf(act.caller), (stage) => {
        const { agent } = stage.require(row.uid);
        killSubtree(stage, row.uid, "killed");
        if (stage.require(row.uid).agent !== agent) audit(stage, agent, act);
      });
    },
  };
}

/** The event that accepts the message, by its place behind those before it. */
function acceptedSeq({ events, reply }: AgentDecision<Receipt>, lastSeq: number): number {
  const at = events.findIndex(
    ({ detail }) => detail.case === "followUp" && detail.value.followUp?.followUpId === reply.followUpId,
  );
  return at < 0 ? 0 : lastSeq + 1 + at;
}
