import { create } from "@bufbuild/protobuf";
import { Provider } from "../../../gen/retinue/v1/agent_id_pb.js";
import {
  QueueFollowUpRequestSchema,
  type SpawnAgentRequest,
  SpawnAgentRequestSchema,
} from "../../../gen/retinue/v1/agent_service_pb.js";
import type { Schedule, ScheduleMessage, ScheduleSpawn } from "../../../gen/retinue/v1/catalog_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import { followUpRequestOf, spawnRequestOf } from "../../domain/agent/requests.js";
import { scheduledName } from "../../domain/automation/scheduled-name.js";
import { type Caller, providerOf } from "../../domain/caller.js";
import type { Scope } from "../../domain/scope.js";
import type { ScheduleRunRow } from "../../storage/automation-rows.js";
import type { Store } from "../../storage/store.js";
import type { Commands } from "../agents/commands.js";
import { resolveAgent } from "../agents/resolve.js";
import { agentOf } from "../agents/rows.js";
import { type Spawner, spawn } from "../agents/spawn.js";
import type { Act } from "../audit.js";

export interface FireOptions {
  readonly store: Store;
  readonly spawner: Spawner;
  readonly commands: Pick<Commands, "queue">;
}

/** One time of a schedule. */
export interface Occasion {
  readonly tenant: string;
  readonly name: string;
  readonly document: Schedule;
  readonly atMs: number;
}

export type Fired = Pick<ScheduleRunRow, "uid" | "messageId">;

/** Does what a schedule says. The same time again, after a crash, finds what it did and does it no second time. */
export async function fire(options: FireOptions, occasion: Occasion): Promise<Fired> {
  const { action } = occasion.document;
  if (action.case === "spawn") return fireSpawn(options, occasion, action.value);
  if (action.case === "message") return fireMessage(options, occasion, action.value);
  throw new Error(`schedule ${occasion.name} has no action`);
}

async function fireSpawn(
  { spawner }: FireOptions,
  occasion: Occasion,
  action: ScheduleSpawn,
): Promise<Fired> {
  const { tenant, name, atMs } = occasion;
  const act = actOf(occasion, "Schedule/Spawn", "agents:spawn");
  const { ownerProvider, account } = act.caller;
  const path = [scheduledName(name, atMs)];
  const { uid } = await spawn(spawner, {
    key: { tenant, ownerProvider, account, workspace: action.workspace, path },
    request: spawnRequestOf(spawnMessage(action)),
    requestId: messageIdOf(occasion),
    act,
  });
  return { uid, messageId: "" };
}

function spawnMessage({ settings, $typeName, $unknown, ...fields }: ScheduleSpawn): SpawnAgentRequest {
  const { model = "", reasoningEffort = "", serviceTier = "", fastMode } = settings ?? {};
  return create(SpawnAgentRequestSchema, { ...fields, model, reasoningEffort, serviceTier, fastMode });
}

async function fireMessage(
  options: FireOptions,
  occasion: Occasion,
  action: ScheduleMessage,
): Promise<Fired> {
  const act = actOf(occasion, "Schedule/Message", "agents:message");
  const row = await resolveAgent(options.store, act.caller, action.agentId, "change");
  const followUpId = messageIdOf(occasion);
  const message = create(QueueFollowUpRequestSchema, { followUpId, description: action.description });
  await options.commands.queue(row, followUpRequestOf(message), act);
  return { uid: row.uid, messageId: followUpId };
}

/** Whether what a schedule last did is over: its agent has ended, or the turn of its message has. */
export async function isOver(store: Store, { uid, messageId }: Fired): Promise<boolean> {
  const record = uid === "" ? undefined : await store.agent(uid);
  if (record === undefined || !record.row.live) return true;
  if (messageId === "") return false;
  const message = await store.followUp(uid, messageId);
  if (message === undefined || message.state === FollowUpState.CLEARED) return true;
  return message.state === FollowUpState.DELIVERED && agentOf(record).agent.turn?.runId !== message.runId;
}

function messageIdOf({ name, atMs }: Occasion): string {
  return `schedule-${name}-${atMs}`;
}

/** As whom it acts: its last writer, or the service profile that they named. */
function actOf({ tenant, name, document }: Occasion, action: string, scope: Scope): Act {
  const slash = document.actsAs.indexOf("/");
  const caller: Caller = {
    tenant,
    ownerProvider: providerOf(document.actsAs.slice(0, slash)) ?? Provider.UNSPECIFIED,
    account: document.actsAs.slice(slash + 1),
    keyId: `schedule/${name}`,
    keyName: `schedule ${name}`,
    role: "",
    scopes: new Set([scope]),
    expiresAtMs: undefined,
  };
  return { caller, action, justification: "" };
}
