import { type Task, TaskStatus } from "../../../../gen/retinue/v1/task_pb.js";
import { tellError } from "../../parts/notice.js";
import { Section } from "../../parts/section.js";
import type { AgentView } from "../../state/agent-view.js";
import { tasks as taskService } from "../../state/api.js";
import { may } from "../../state/session.js";
import { isAlive } from "../../text/phases.js";

const STATES: Readonly<Record<TaskStatus, { readonly label: string; readonly mark: string }>> = {
  [TaskStatus.UNSPECIFIED]: { label: "pending", mark: "○" },
  [TaskStatus.PENDING]: { label: "pending", mark: "○" },
  [TaskStatus.IN_PROGRESS]: { label: "in progress", mark: "◐" },
  [TaskStatus.COMPLETED]: { label: "completed", mark: "✓" },
  [TaskStatus.DELETED]: { label: "deleted", mark: "×" },
};

export function Checklist({ view, tasks }: { view: AgentView; tasks: readonly Task[] }) {
  const done = tasks.filter(({ status }) => status === TaskStatus.COMPLETED).length;
  const mayChange = may("agents:message") && isAlive(view.status.value?.phase);
  const subjects = new Map(tasks.map((task) => [task.id, task]));
  const change = async (task: Task, checked: boolean) => {
    const status = checked ? TaskStatus.COMPLETED : TaskStatus.PENDING;
    await taskService.updateTask({
      agentId: view.agentId,
      task: { id: task.id, status },
      updateMask: { paths: ["status"] },
    });
    await view.refresh();
  };
  return (
    <Section title="Checklist" extra={tasks.length === 0 ? undefined : `${done} of ${tasks.length}`}>
      {tasks.length === 0 ? <p class="dim">Empty.</p> : <Progress done={done} all={tasks.length} />}
      <ul class="checklist">
        {tasks.map((task) => (
          <TaskItem
            key={task.id}
            task={task}
            waitsFor={task.blockedBy.map((id) => subjects.get(id)).filter((blocker) => blocker !== undefined)}
            onChange={mayChange ? (checked) => void change(task, checked).catch(tellError) : undefined}
          />
        ))}
      </ul>
    </Section>
  );
}

function Progress({ done, all }: { done: number; all: number }) {
  return <progress max={all} value={done} aria-label={`${done} of ${all} tasks completed`} />;
}

interface TaskItemProps {
  task: Task;
  waitsFor: readonly Task[];
  onChange: ((checked: boolean) => void) | undefined;
}

function TaskItem({ task, waitsFor, onChange }: TaskItemProps) {
  const { label, mark } = STATES[task.status];
  const completed = task.status === TaskStatus.COMPLETED;
  const open = waitsFor.filter(({ status }) => status !== TaskStatus.COMPLETED);
  return (
    <li class={`task ${label.replace(" ", "-")}${task.active ? "" : " inactive"}`}>
      {onChange ? (
        <input
          type="checkbox"
          checked={completed}
          indeterminate={task.status === TaskStatus.IN_PROGRESS}
          aria-label={`${task.subject} (${label})`}
          title={label}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      ) : (
        <span class="mark" role="img" aria-label={label} title={label}>
          {mark}
        </span>
      )}
      <div>
        <p>
          {task.subject} <span class="tag mono">{task.id}</span>
          {task.persona === "" ? null : <span class="tag">{task.persona}</span>}
          {task.active ? null : <span class="tag">inactive</span>}
          {task.ephemeral ? <span class="tag">this run only</span> : null}
        </p>
        {task.description === "" ? null : <p class="dim">{task.description}</p>}
        {open.length === 0 ? null : (
          <p class="waits">waits for {open.map(({ subject }) => subject).join(", ")}</p>
        )}
        {task.activation?.condition.case === "filesModified" ? (
          <p class="dim">
            when a push touches <code>{task.activation.condition.value.pattern || "any file"}</code>
          </p>
        ) : null}
      </div>
    </li>
  );
}
