import { type JsonValue, toJson } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { AgentToolsService } from "../../../gen/retinue/v1/agent_tools_service_pb.js";
import { TaskStatus } from "../../../gen/retinue/v1/task_pb.js";
import { gaveOutput, missingOutput, outputRefused } from "../../domain/agent/output.js";
import { type Task, type TaskInput, visibleTasks } from "../../domain/agent/task.js";
import { createTasks } from "../../domain/agent/task-create.js";
import { updateTask } from "../../domain/agent/task-update.js";
import { askedInput, declaredDone } from "../../domain/agent/turn-report.js";
import type { TurnCaller } from "../../domain/caller.js";
import { invalidField } from "../../domain/fault.js";
import type { Agents } from "../../engine/agents/agents.js";
import type { Schemas } from "../../schemas/schemas.js";
import { implement, type Service } from "../service.js";
import { type ChildToolsOptions, childTools } from "./child-tools.js";
import { createTurnCalls, turnOf } from "./turn-calls.js";

export interface AgentToolsOptions extends ChildToolsOptions {
  readonly agents: Agents;
  readonly schemas: Pick<Schemas, "validate">;
}

const STATUSES: Readonly<Record<string, TaskStatus>> = {
  pending: TaskStatus.PENDING,
  in_progress: TaskStatus.IN_PROGRESS,
  completed: TaskStatus.COMPLETED,
  deleted: TaskStatus.DELETED,
};

export function agentToolsService(options: AgentToolsOptions): Service {
  const { store, agents, schemas } = options;
  const calls = createTurnCalls(store, agents);
  const { own, decide } = calls;

  /** Refuses an output that the schema in force refuses; the run keeps the reason. */
  async function checkOutput(turn: TurnCaller, output: JsonValue | undefined): Promise<void> {
    const agent = await own(turn);
    const { outputSchema } = agent.settings.values;
    if (outputSchema === "" || agent.turn === undefined) return;
    const violation =
      output === undefined ? missingOutput(agent, agent.turn) : await schemas.validate(outputSchema, output);
    if (violation === undefined) return;
    await decide(turn, (now, c) => outputRefused(now, { ...turn, violation }, c));
    throw invalidField("output", violation, "OUTPUT_INVALID");
  }

  return implement(AgentToolsService, {
    ...childTools(options, calls),

    async getChecklist(_request, context) {
      const agent = await own(turnOf(context));
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
