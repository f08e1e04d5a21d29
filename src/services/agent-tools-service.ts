import { type JsonValue, toJson } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { IdlePolicy, Phase } from "../../gen/retinue/v1/agent_pb.js";
import { AgentToolsService } from "../../gen/retinue/v1/agent_tools_service_pb.js";
import { TaskStatus } from "../../gen/retinue/v1/task_pb.js";
import type { Agent } from "../domain/agent/agent.js";
import { childHandedOver } from "../domain/agent/children.js";
import type { Decision as AgentDecision, Context } from "../domain/agent/decision.js";
import { gaveOutput, missingOutput, outputRefused } from "../domain/agent/output.js";
import { isTerminal, phaseName, requireFound, resultOf } from "../domain/agent/phase.js";
import { type Task, type TaskInput, visibleTasks } from "../domain/agent/task.js";
import { createTasks } from "../domain/agent/task-create.js";
import { updateTask } from "../domain/agent/task-update.js";
import { fencedTurn } from "../domain/agent/turn.js";
import { askedInput, declaredDone } from "../domain/agent/turn-report.js";
import type { TurnCaller } from "../domain/caller.js";
import { failedPrecondition, invalidField, permissionDenied } from "../domain/fault.js";
import type { Agents } from "../engine/agents/agents.js";
import type { Hub } from "../engine/agents/hub.js";
import type { AgentViews } from "../engine/agents/reads.js";
import { agentOf } from "../engine/agents/rows.js";
import { type Spawner, spawn } from "../engine/agents/spawn.js";
import { waitForAgent } from "../engine/agents/wait.js";
import type { Schemas } from "../schemas/schemas.js";
import type { Store } from "../storage/store.js";
import { actOf, type CallContext, implement, type Service } from "./service.js";

export interface AgentToolsOptions {
  readonly store: Store;
  readonly agents: Agents;
  readonly hub: Hub;
  readonly views: AgentViews;
  readonly spawner: Spawner;
  readonly schemas: Pick<Schemas, "validate">;
}

const STATUSES: Readonly<Record<string, TaskStatus>> = {
  pending: TaskStatus.PENDING,
  in_progress: TaskStatus.IN_PROGRESS,
  completed: TaskStatus.COMPLETED,
  deleted: TaskStatus.DELETED,
};
const MAX_AWAIT_S = 60;
const DEFAULT_AWAIT_S = 30;

export function agentToolsService(options: AgentToolsOptions): Service {
  const { store, agents, hub, views, spawner, schemas } = options;

  /** A rule about the agent itself, refused when the turn that asks is over. */
  function decide<R>(
    turn: TurnCaller,
    rule: (agent: Agent, context: Context) => AgentDecision<R>,
  ): Promise<R> {
    return agents.change("agent", (stage) => {
      const { agent } = stage.require(turn.uid);
      requireTurn(agent, turn);
      return stage.apply(rule(agent, stage.contextOf(agent)));
    });
  }

  async function read(uid: string): Promise<Agent> {
    const record = await store.agent(uid);
    return agentOf(requireFound(record, [])).agent;
  }

  async function childRow(turn: TurnCaller, name: string) {
    const { key } = await read(turn.uid);
    const path = [...key.path, name];
    const { tenant, ownerProvider, account, workspace } = key;
    const query = { tenant, ownerProvider, account, workspace, path: path.join("/"), limit: 1 };
    const [row] = await store.incarnations(query);
    return requireFound(row, path);
  }

  /** Refuses an output that the schema in force refuses; the run keeps the reason. */
  async function checkOutput(turn: TurnCaller, output: JsonValue | undefined): Promise<void> {
    const agent = await read(turn.uid);
    const { outputSchema } = agent.settings.values;
    const held = fencedTurn(agent, turn);
    if (outputSchema === "" || held === undefined) return;
    const violation =
      output === undefined ? missingOutput(agent, held) : await schemas.validate(outputSchema, output);
    if (violation === undefined) return;
    await decide(turn, (now, c) => outputRefused(now, { ...turn, violation }, c));
    throw invalidField("output", violation, "OUTPUT_INVALID");
  }

  return implement(AgentToolsService, {
    async getChecklist(_request, context) {
      const agent = await read(turnOf(context).uid);
      return { tasks: visibleTasks(agent).map(itemOf) };
    },

    async moveTask(request, context) {
      const status = STATUSES[request.status];
      if (status === undefined)
        throw invalidField("status", `must be one of ${Object.keys(STATUSES).join(", ")}`);
      const task = { ...EMPTY_TASK, id: request.id, status };
      const moved = await decide(turnOf(context), (agent, c) =>
        updateTask(agent, { task, paths: ["status"] }, c),
      );
      return { task: itemOf(moved.task) };
    },

    async addTask(request, context) {
      const task = { ...EMPTY_TASK, id: request.id, subject: request.subject };
      const made = await decide(turnOf(context), (agent, c) => createTasks(agent, [task], c));
      return { task: itemOf(made.tasks[0] as Task) };
    },

    async askInput({ question }, context) {
      const turn = turnOf(context);
      await decide(turn, (agent, c) => askedInput(agent, { ...turn, question }, c));
      return {};
    },

    async reportResult(request, context) {
      const turn = turnOf(context);
      const output = jsonOf(request.output);
      await checkOutput(turn, output);
      await decide(turn, (agent, c) => declaredDone(agent, { ...turn, result: request.result, output }, c));
      return {};
    },

    async giveOutput(request, context) {
      const turn = turnOf(context);
      const output = jsonOf(request.output);
      if (output === undefined) throw invalidField("output", "required");
      await checkOutput(turn, output);
      await decide(turn, (agent, c) => gaveOutput(agent, { ...turn, output }, c));
      return {};
    },

    async spawnChild(request, context) {
      const turn = turnOf(context);
      const parent = await read(turn.uid);
      requireTurn(parent, turn);
      const made = await spawn(spawner, {
        key: { ...parent.key, path: [...parent.key.path, request.name] },
        request: { ...EMPTY_SPAWN, description: request.description },
        // The model may repeat a call after a recovery: the same child in the same run.
        requestId: `${turn.uid}/${turn.runId}/${request.name}`,
        act: actOf(context),
      });
      return { name: request.name, phase: phaseName(made.phase) };
    },

    async awaitChild(request, context) {
      const turn = turnOf(context);
      const { uid } = await childRow(turn, request.name);
      const seconds = Math.min(request.timeoutSeconds || DEFAULT_AWAIT_S, MAX_AWAIT_S);
      const wait = { uid, timeoutMs: seconds * 1000, followUpId: "", afterRun: 0, signal: context.signal };
      await waitForAgent({ store, hub, views }, wait);
      const child = await read(uid);
      const ended = isTerminal(child.phase);
      if (ended || child.phase === Phase.WAITING_FOR_INPUT) {
        await decide(turn, (agent, c) => childHandedOver(agent, { ...turn, childUid: uid, ended }, c));
      }
      return {
        phase: phaseName(child.phase),
        result: ended ? resultOf(child) : (child.needsInput?.text ?? ""),
      };
    },
  });
}

const EMPTY_TASK: TaskInput = {
  id: "",
  subject: "",
  description: "",
  status: TaskStatus.UNSPECIFIED,
  blocks: [],
  blockedBy: [],
  persona: "",
  dedupKey: "",
  ephemeral: false,
};

const EMPTY_SPAWN = {
  expectedOutput: "",
  tasks: [],
  agent: "",
  model: "",
  reasoningEffort: "",
  serviceTier: "",
  fastMode: undefined,
  outputSchema: "",
  environment: "",
  labels: {},
  startAtMs: undefined,
  idlePolicy: IdlePolicy.UNSPECIFIED,
  budget: undefined,
};

function turnOf({ caller }: CallContext): TurnCaller {
  if (caller.turn === undefined) throw permissionDenied("only an agent at work on a turn may call this");
  return caller.turn;
}

function requireTurn(agent: Agent, turn: TurnCaller): void {
  if (fencedTurn(agent, turn) !== undefined) return;
  throw failedPrecondition(
    "TURN_OVER",
    agent.key.path.join("/"),
    `run ${turn.runId} is over: nothing was changed`,
  );
}

function itemOf({ id, subject, description, status, active, blockedBy }: Task) {
  return {
    id,
    subject,
    description,
    status: TaskStatus[status].toLowerCase(),
    active,
    blockedBy: [...blockedBy],
  };
}

function jsonOf(value: Value | undefined) {
  return value && toJson(ValueSchema, value);
}
