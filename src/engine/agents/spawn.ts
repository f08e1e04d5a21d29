import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import { SettingSource } from "../../../gen/retinue/v1/settings_pb.js";
import type { Agent, AgentKey } from "../../domain/agent/agent.js";
import { childSpawned } from "../../domain/agent/children.js";
import { confinementText } from "../../domain/agent/confinement.js";
import type { Limits } from "../../domain/agent/limits.js";
import { spawnSettings } from "../../domain/agent/settings-check.js";
import { type SpawnRequest, spawnAgent, spawnFingerprint } from "../../domain/agent/spawn.js";
import {
  isRepeatedSpawn,
  requireDocument,
  requireSpawnable,
  selectWorkspace,
} from "../../domain/agent/spawn-check.js";
import { actorOf } from "../../domain/caller.js";
import { Fault } from "../../domain/fault.js";
import type { Runner } from "../../runner/runner.js";
import type { Schemas } from "../../schemas/schemas.js";
import type { Store } from "../../storage/store.js";
import { type Act, type Auditor, agentTarget } from "../audit.js";
import type { Clock } from "../clock.js";
import type { AdmitTenant } from "../tenancy.js";
import type { Agents } from "./agents.js";
import type { Census } from "./census.js";
import { confine } from "./confine.js";
import type { Documents } from "./documents.js";
import type { Launches } from "./launch.js";
import { schemaViolationOf } from "./output-schema.js";
import { findAgent } from "./resolve.js";
import { listedAgentOf } from "./rows.js";
import type { Stage } from "./stage.js";
import { keys } from "./values.js";

export interface SpawnCommand {
  /** Tenant and owner are resolved; an empty path is minted, an empty workspace selected. */
  readonly key: AgentKey;
  readonly request: SpawnRequest;
  /** Empty: none. */
  readonly requestId: string;
  readonly act: Act;
  /** Refuses what has become late, in the commit that spawns. */
  readonly guard?: (stage: Stage) => void;
}

export interface Spawned {
  readonly key: AgentKey;
  readonly uid: string;
  readonly phase: Phase;
  readonly runCount: number;
  readonly created: boolean;
}

export interface Spawner {
  readonly store: Store;
  readonly agents: Agents;
  readonly documents: Documents;
  readonly schemas: Pick<Schemas, "check">;
  readonly auditor: Auditor;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly census: Census;
  readonly admit: AdmitTenant;
  readonly launches: Launches;
  readonly runner: Runner;
}

const REQUEST_ID_LIVES_MS = 24 * 60 * 60 * 1000;
/** Before its first run an agent is promised what its profile can do; the process tells the rest. */
const NEW_RUNTIME = { runnerId: "", build: "", capabilities: ["deferral"] };
const DEFAULT_MODEL = "script-a";

export async function spawn(spawner: Spawner, command: SpawnCommand): Promise<Spawned> {
  const { tenant } = command.key;
  spawner.admit(tenant);
  const place = await spawner.census.take(tenant);
  try {
    return await spawnInto(spawner, command, place.taken);
  } finally {
    place.leave();
  }
}

async function spawnInto(spawner: Spawner, command: SpawnCommand, liveAgents: number): Promise<Spawned> {
  const { documents, agents, clock } = spawner;
  const above = await parentOf(spawner, command.key);
  const key = await concreteKey(spawner, command.key, above);
  const { tenant } = key;
  const workspace = requireDocument(
    await documents.workspace(tenant, key.workspace),
    "workspace",
    key.workspace,
  );
  const { request } = command;
  const personaName = request.agent || workspace.agent || "default";
  const persona = requireDocument(await documents.persona(tenant, personaName), "persona", personaName);
  const environment = request.environment || above?.environment || workspace.environment || "default";
  const { vmProfile } = requireDocument(
    await documents.environment(tenant, environment),
    "environment",
    environment,
  );
  const profile =
    vmProfile === ""
      ? undefined
      : requireDocument(await documents.vmProfile(tenant, vmProfile), "vm-profile", vmProfile);
  const models = [
    request.model,
    persona.settings?.model ?? "",
    workspace.settings?.model ?? "",
    above?.settings.values.model ?? "",
    DEFAULT_MODEL,
  ];
  const backendOf = await documents.backends(tenant, models);
  const schemaViolation = await schemaViolationOf(spawner, request.outputSchema);
  const requireProgram = await spawner.launches.checked(tenant, models);
  const personaSource = request.agent
    ? SettingSource.SPAWN
    : workspace.agent
      ? SettingSource.WORKSPACE
      : SettingSource.DEFAULT;
  const { model, reasoningEffort, serviceTier, fastMode, outputSchema } = request;
  const settingsFrom = {
    explicit: { model, reasoningEffort, serviceTier, fastMode, outputSchema },
    persona,
    personaSource,
    workspace: workspace.settings,
    parent: above?.settings.values,
    defaultModel: DEFAULT_MODEL,
  };
  const uid = clock.newId();

  return agents.change(actorOf(command.act.caller), (stage, nowMs) => {
    command.guard?.(stage);
    const repeated = findRepeated(stage, command, key, nowMs);
    if (repeated) return repeated;
    const parent = requirePlace(stage, key, liveAgents, spawner.limits);
    const settings = spawnSettings(settingsFrom, { backendOf, schemaViolation }, spawner.limits);
    requireProgram(settings.values.model);
    const parentUid = parent?.uid ?? "";
    const base = { nowMs, limits: spawner.limits, slotWanted: true, ancestors: [] };
    const confinement = confine(spawner.runner, profile, vmProfile, parent?.runtime);
    const runtime = { ...NEW_RUNTIME, isolation: confinementText(confinement), confinement };
    stage.apply(spawnAgent({ uid, key, parentUid, request, environment, settings, runtime }, base));
    if (parent) {
      const child = { uid, path: key.path, budget: request.budget };
      stage.apply(childSpawned(parent, child, stage.contextOf(parent)));
    }
    stage.put(keys.path(key), { sort: "path", value: { uid, live: true } });
    if (command.requestId !== "") recordRequest(stage, command, key, uid, nowMs);
    stage.add(
      spawner.auditor.done(command.act, {
        tenant,
        target: agentTarget(key),
        generationBefore: 0,
        generationAfter: 0,
      }),
    );
    return { key, uid, phase: Phase.PENDING, runCount: 0, created: true };
  });
}

/** Fills in what the server chooses: the name of a root, and the workspace. */
async function concreteKey(
  { documents, clock }: Spawner,
  key: AgentKey,
  parent: Agent | undefined,
): Promise<AgentKey> {
  const path = key.path.length > 0 ? key.path : [`agent-${clock.newId().slice(0, 8)}`];
  if (key.workspace !== "") return { ...key, path };
  if (parent) return { ...key, path, workspace: parent.key.workspace };
  return { ...key, path, workspace: selectWorkspace(await documents.workspaces(key.tenant)) };
}

/** The agent above, as far as it is known now: what it hands down cannot be refused later. */
async function parentOf({ store }: Spawner, key: AgentKey): Promise<Agent | undefined> {
  if (key.path.length < 2) return undefined;
  try {
    return listedAgentOf(await findAgent(store, { ...key, path: key.path.slice(0, -1) }, "", "change"));
  } catch (error) {
    // That there is no parent is for the commit to say, which knows better.
    if (error instanceof Fault && error.code === Code.NOT_FOUND) return undefined;
    throw error;
  }
}

function findRepeated(
  stage: Stage,
  { requestId, request }: SpawnCommand,
  key: AgentKey,
  nowMs: number,
): Spawned | undefined {
  if (requestId === "") return undefined;
  const row = stage.look(
    "spawnRequest",
    keys.spawnRequest(key.tenant, key.ownerProvider, key.account, requestId),
  );
  const earlier = row && nowMs - row.atMs < REQUEST_ID_LIVES_MS ? row : undefined;
  if (!isRepeatedSpawn(earlier, spawnFingerprint(key, request)) || earlier === undefined) return undefined;
  const { agent } = stage.require(earlier.uid);
  return { key: agent.key, uid: agent.uid, phase: agent.phase, runCount: agent.runCount, created: false };
}

/** Finds the parent, and refuses a spawn that has no place. */
function requirePlace(stage: Stage, key: AgentKey, liveAgents: number, limits: Limits) {
  const at = stage.look("path", keys.path(key));
  const existing = at && stage.require(at.uid).agent;
  const parentAt =
    key.path.length > 1 ? stage.look("path", keys.path({ ...key, path: key.path.slice(0, -1) })) : undefined;
  const parent = parentAt && stage.require(parentAt.uid).agent;
  requireSpawnable(
    {
      path: key.path,
      existing,
      descendantLives: (existing?.children.length ?? 0) > 0,
      parent,
      liveSubtree: parent ? liveBelow(stage, rootUid(stage, parent.uid)) : 0,
      liveAgents,
    },
    limits,
  );
  return parent;
}

function rootUid(stage: Stage, uid: string): string {
  const { parentUid } = stage.require(uid).agent;
  return parentUid === "" ? uid : rootUid(stage, parentUid);
}

function liveBelow(stage: Stage, uid: string): number {
  const { children } = stage.require(uid).agent;
  return children.reduce((count, child) => count + liveBelow(stage, child.uid), 1);
}

function recordRequest(
  stage: Stage,
  { requestId, request }: SpawnCommand,
  key: AgentKey,
  uid: string,
  atMs: number,
) {
  const { tenant, ownerProvider, account } = key;
  const row = {
    tenant,
    ownerProvider,
    account,
    requestId,
    fingerprint: spawnFingerprint(key, request),
    uid,
    atMs,
  };
  stage.add({ type: "spawnRequest", row });
  stage.put(keys.spawnRequest(tenant, ownerProvider, account, requestId), {
    sort: "spawnRequest",
    value: row,
  });
}
