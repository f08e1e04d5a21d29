import type { JsonValue } from "@bufbuild/protobuf";
import { type Integration, IntegrationType } from "../../../gen/retinue/v1/catalog_pb.js";
import { branchOf as agentBranch } from "../../domain/agent/branch.js";
import {
  type PullRequest,
  type ReviewNote,
  readDelivery,
  reviewMessage,
} from "../../domain/automation/review.js";
import { isSignedBy } from "../../domain/automation/standard-webhook.js";
import { integration, parseHookId, signingSecret } from "../../domain/catalog/kinds/integration.js";
import { malformed, unauthenticated } from "../../domain/fault.js";
import type { Vault } from "../../domain/vault.js";
import type { AgentRow } from "../../storage/agent-rows.js";
import type { ResourceKey, Store } from "../../storage/store.js";
import type { Commands } from "../agents/commands.js";
import { listedAgentOf } from "../agents/rows.js";
import { documentOf } from "../catalog/values.js";

/** A delivery of a code host, as it came in. */
export interface HookDelivery {
  readonly hookId: string;
  /** `sha256=<hex>`. */
  readonly signature: string;
  /** `pull_request_review`. */
  readonly event: string;
  readonly deliveryId: string;
  readonly body: Uint8Array;
}

/** What became of a delivery: a code host shows it to whoever set the hook up. */
export interface HookOutcome {
  readonly queued: boolean;
  readonly reason: string;
}

export interface CodehostOptions {
  readonly store: Store;
  readonly vault: Vault;
  readonly commands: Pick<Commands, "queuePlatformMessage">;
}

const DELIVERY_ID = /^[\w-]{1,100}$/;

/** Takes deliveries of code hosts: what people say about an agent's branch becomes a message to the agent. */
export function createCodehost({ store, vault, commands }: CodehostOptions) {
  /** Nobody learns from a refusal whether it was the name or the signature that was wrong. */
  async function trusted({
    hookId,
    signature,
    body,
  }: HookDelivery): Promise<{ ref: ResourceKey; document: Integration }> {
    const named = parseHookId(hookId);
    if (named === undefined) throw unauthenticated();
    const ref = { tenant: named.tenant, kind: integration.name, name: named.name };
    const stored = await store.resource(ref);
    if (stored === undefined || stored.deleted) throw unauthenticated();
    const document = documentOf(integration, stored);
    const secret = signingSecret(vault, ref.tenant, ref.name, document.signingNonce);
    if (document.type !== IntegrationType.CODEHOST || !isSignedBy(secret, body, signature))
      throw unauthenticated();
    return { ref, document };
  }

  /** Comments name a pull request by its number; its branch was told by an earlier delivery. */
  async function branchOf({ tenant, name }: ResourceKey, pull: PullRequest): Promise<string | undefined> {
    const key = { tenant, integration: name, repo: pull.repo, number: pull.number };
    if (pull.branch === undefined) return (await store.pullRequest(key))?.branch;
    await store.commit([{ type: "pullRequest", row: { ...key, branch: pull.branch } }]);
    return pull.branch;
  }

  async function agentOf(
    tenant: string,
    branch: string,
    document: Integration,
  ): Promise<AgentRow | undefined> {
    const start = /-([0-9a-f]{8})$/.exec(branch)?.[1];
    if (start === undefined) return undefined;
    const { workspaces } = document;
    return (await store.agentsByUid(tenant, start)).find((row) => {
      const concerned = workspaces.length === 0 || workspaces.includes(row.workspace);
      return row.live && concerned && agentBranch(listedAgentOf(row)) === branch;
    });
  }

  async function pass(
    ref: ResourceKey,
    pull: PullRequest,
    note: ReviewNote,
    id: string,
    document: Integration,
  ) {
    if (!document.allowedAuthors.includes(note.author))
      return ignored(`${note.author} is not an allowed author`);
    const branch = await branchOf(ref, pull);
    const agent = branch && (await agentOf(ref.tenant, branch, document));
    if (!agent) return ignored(`no live agent has the branch of pull request #${pull.number}`);
    const { added } = await commands.queuePlatformMessage(
      agent,
      reviewMessage(`hook-${ref.name}-${id}`, pull, note),
    );
    return added ? { queued: true, reason: "" } : ignored("it was delivered before");
  }

  return {
    /** Throws UNAUTHENTICATED before anything of the body is looked at. */
    async receive(delivery: HookDelivery): Promise<HookOutcome> {
      const { ref, document } = await trusted(delivery);
      if (!document.enabled) return ignored("the integration is not enabled");
      if (!DELIVERY_ID.test(delivery.deliveryId))
        throw malformed("x-github-delivery: required, the delivery's ID");
      const told = readDelivery(delivery.event, parse(delivery.body));
      if (told === undefined)
        return ignored(`nothing is done about ${delivery.event || "an event without a name"}`);
      if (told.note !== undefined) return pass(ref, told.pull, told.note, delivery.deliveryId, document);
      await branchOf(ref, told.pull);
      return ignored("noted");
    },
  };
}

export type Codehost = ReturnType<typeof createCodehost>;

function ignored(reason: string): HookOutcome {
  return { queued: false, reason };
}

function parse(body: Uint8Array): JsonValue {
  try {
    return JSON.parse(Buffer.from(body).toString()) as JsonValue;
  } catch {
    throw malformed("the delivery is not JSON: set its content type to application/json");
  }
}
