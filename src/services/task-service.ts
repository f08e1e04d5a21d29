import { TaskService } from "../../gen/retinue/v1/task_service_pb.js";
import { isLiveTask, type Task, taskMessage } from "../domain/agent/task.js";
import { createTasks } from "../domain/agent/task-create.js";
import { updateTask } from "../domain/agent/task-update.js";
import { invalidField } from "../domain/fault.js";
import type { Commands } from "../engine/agents/commands.js";
import { resolveAgent } from "../engine/agents/resolve.js";
import { agentOf } from "../engine/agents/rows.js";
import type { Store } from "../storage/store.js";
import { actOf, implement, type Service } from "./service.js";

export function taskService(store: Store, commands: Commands): Service {
  /** Edges to tasks that are still to come with a message are not shown. */
  async function messages(uid: string, shown: (task: Task) => boolean) {
    const record = await store.agent(uid);
    const tasks = record ? agentOf(record).agent.tasks : [];
    const known = new Set(tasks.map((task) => task.id));
    return tasks.filter(shown).map((task) => taskMessage(task, known));
  }

  return implement(TaskService, {
    async createTasks(request, context) {
      const row = await resolveAgent(store, context.caller, request.agentId, "change");
      const made = await commands.decide(row, actOf(context, request.justification), (agent, c) =>
        createTasks(agent, request.tasks, c),
      );
      const ids = new Set(made.tasks.map((task) => task.id));
      return { tasks: await messages(row.uid, (task) => ids.has(task.id)) };
    },

    async updateTask(request, context) {
      const row = await resolveAgent(store, context.caller, request.agentId, "change");
      const { task } = request;
      if (task === undefined) throw invalidField("task", "required");
      const paths = request.updateMask?.paths ?? [];
      await commands.decide(row, actOf(context, request.justification), (agent, c) =>
        updateTask(agent, { task, paths }, c),
      );
      const [updated] = await messages(row.uid, ({ id }) => id === task.id);
      return updated === undefined ? {} : { task: updated };
    },

    async listTasks(request, context) {
      const row = await resolveAgent(store, context.caller, request.agentId, "read");
      return { tasks: await messages(row.uid, (task) => request.includeDeleted || isLiveTask(task)) };
    },
  });
}
