import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { IdlePolicy, Phase } from "../../../gen/retinue/v1/agent_pb.js";
import type { AgentToolsService, SpawnChildRequest } from "../../../gen/retinue/v1/agent_tools_service_pb.js";
import type { Agent } from "../../domain/agent/agent.js";
import { type BudgetLimits, subtreeSpentOf } from "../../domain/agent/budget.js";
import { childHandedOver } from "../../domain/agent/children.js";
import type { FollowUpRequest } from "../../domain/agent/follow-up.js";
import { isTerminal, phaseName, requireFound, resultOf } from "../../domain/agent/phase.js";
import { NO_SETTINGS } from "../../domain/agent/settings.js";
import { type SpawnRequest, spawnFingerprint } from "../../domain/agent/spawn.js";
import { waitEnd } from "../../domain/agent/wait.js";
import type { TurnCaller } from "../../domain/caller.js";
import { invalidField } from "../../domain/fault.js";
import type { Commands } from "../../engine/agents/commands.js";
import type { Hub } from "../../engine/agents/hub.js";
import type { AgentViews } from "../../engine/agents/reads.js";
import { listedAgentOf } from "../../engine/agents/rows.js";
import { type Spawner, spawn } from "../../engine/agents/spawn.js";
import { waitForAgent } from "../../engine/agents/wait.js";
import type { Store } from "../../storage/store.js";
import { actOf, type Handlers } from "../service.js";
import { requireTurn, type TurnCalls, turnOf } from "./turn-calls.js";

export interface ChildToolsOptions {
  readonly store: Store;
  readonly hub: Hub;
  readonly views: AgentViews;
  readonly spawner: Spawner;
  readonly commands: Commands;
  readonly lendSlot: (uid: string) => () => void;
}

type ChildTools = Pick<
  Handlers<typeof AgentToolsService>,
  "spawnChild" | "awaitChild" | "messageChild" | "listChildren"
>;

const MAX_AWAIT_S = 60;
const DEFAULT_AWAIT_S = 30;
const MAX_LISTED = 1000;

/** What an agent can do with its children. */
export function childTools(options: ChildToolsOptions, { read, own, decide }: TurnCalls): ChildTools {
  const { store, hub, views, spawner, commands, lendSlot } = options;

  async function childRow(turn: TurnCaller, name: string) {
    const { key } = await own(turn);
    const path = [...key.path, name];
    const { tenant, ownerProvider, account, workspace } = key;
    const query = { tenant, ownerProvider, account, workspace, path: path.join("/"), limit: 1 };
    const [row] = await store.incarnations(query);
    // An earlier incarnation of the parent may have had a child of that name.
    return requireFound(row?.parentUid === turn.uid ? row : undefined, path);
  }

  /** A turn that only waits needs no slot; one whose child has something to say already does not wait. */
  async function waitFor(turn: TurnCaller, uid: string, timeoutMs: number, signal: AbortSignal) {
    if (waitEnd(await read(uid), 0) !== undefined) return;
    const takeBack = lendSlot(turn.uid);
    try {
      await waitForAgent({ store, hub, views }, { uid, timeoutMs, followUpId: "", afterRun: 0, signal });
    } finally {
      takeBack();
    }
  }

  return {
    async spawnChild(request, context) {
      const turn = turnOf(context);
      const parent = await own(turn);
      const key = { ...parent.key, path: [...parent.key.path, request.name] };
      const spawnRequest = spawnRequestOf(request);
      const made = await spawn(spawner, {
        key,
        request: spawnRequest,
        // Models repeat calls, and so does a recovery: the same request in the same run is the same child.
        requestId: `${turn.uid}/${turn.runId}/${spawnFingerprint(key, spawnRequest)}`,
        act: actOf(context, ""),
        guard: (stage) => void requireTurn(stage, turn),
      });
      return { name: request.name, phase: phaseName(made.phase) };
    },

    async awaitChild(request, context) {
      const turn = turnOf(context);
      const { uid } = await childRow(turn, request.name);
      const seconds = Math.min(request.timeoutSeconds || DEFAULT_AWAIT_S, MAX_AWAIT_S);
      await waitFor(turn, uid, seconds * 1000, context.signal);
      const child = await read(uid);
      const ended = isTerminal(child.phase);
      if (ended || child.phase === Phase.WAITING_FOR_INPUT) {
        await decide(turn, (agent, c) => childHandedOver(agent, { ...turn, childUid: uid, ended }, c));
      }
      const { structuredOutput } = child;
      return {
        phase: phaseName(child.phase),
        result: saysNow(child),
        ...(structuredOutput === undefined ? {} : { output: fromJson(ValueSchema, structuredOutput) }),
      };
    },

    async messageChild({ name, text, messageId }, context) {
      const turn = turnOf(context);
      const row = await childRow(turn, name);
      const { key } = await own(turn);
      const receipt = await commands.queue(
        row,
        { ...PLAIN_MESSAGE, description: text, followUpId: messageId },
        actOf(context, ""),
        { sender: `agent ${key.path.join("/")}`, guard: (stage) => void requireTurn(stage, turn) },
      );
      return { messageId: receipt.followUpId };
    },

    async listChildren(_request, context) {
      const { uid, key } = await own(turnOf(context));
      const { tenant } = key;
      const rows = await store.agents({
        tenant,
        parentUid: uid,
        descendants: false,
        owner: undefined,
        includeTerminal: true,
        after: undefined,
        limit: MAX_LISTED,
      });
      const newest = new Map<string, Agent>();
      for (const child of rows.map(listedAgentOf)) {
        const name = child.key.path.at(-1) ?? "";
        if ((newest.get(name)?.createdAtMs ?? 0) <= child.createdAtMs) newest.set(name, child);
      }
      const children = [...newest].map(([name, child]) => ({
        name,
        phase: phaseName(child.phase),
        result: saysNow(child),
        cost: subtreeSpentOf(child).costUsd,
      }));
      return { children };
    },
  };
}

function saysNow(child: Agent): string {
  return isTerminal(child.phase) ? resultOf(child) : (child.needsInput?.text ?? "");
}

const PLAIN_MESSAGE: FollowUpRequest = {
  ...NO_SETTINGS,
  followUpId: "",
  description: "",
  tasks: [],
  agent: "",
  preempt: false,
  deliverAtMs: undefined,
};

function spawnRequestOf(request: SpawnChildRequest): SpawnRequest {
  const { description, expectedOutput, agent, model, outputSchema } = request;
  return {
    ...NO_SETTINGS,
    description,
    expectedOutput,
    agent,
    model,
    outputSchema,
    tasks: [],
    environment: "",
    labels: {},
    startAtMs: undefined,
    idlePolicy: IdlePolicy.UNSPECIFIED,
    budget: budgetOf(request),
  };
}

function budgetOf({ maxCostUsd, maxTokens }: SpawnChildRequest): BudgetLimits | undefined {
  if (maxCostUsd === 0 && maxTokens === 0n) return undefined;
  if (maxCostUsd < 0) throw invalidField("maxCostUsd", "must be 0 or more");
  return {
    maxCostUsd: maxCostUsd === 0 ? undefined : maxCostUsd,
    maxTokens: maxTokens === 0n ? undefined : Number(maxTokens),
    maxTurns: undefined,
    maxWallTimeMs: undefined,
  };
}
