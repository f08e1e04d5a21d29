import { Icon } from "./icon.js";

/** A task as people fill it in. */
export interface TaskDraft {
  readonly id: string;
  readonly subject: string;
  /** IDs with blanks or commas between them. */
  readonly blockedBy: string;
}

interface TaskFieldsProps {
  value: readonly TaskDraft[];
  onChange: (value: readonly TaskDraft[]) => void;
}

/** Checklist items to add. */
export function TaskFields({ value, onChange }: TaskFieldsProps) {
  const set = (index: number, part: Partial<TaskDraft>) =>
    onChange(value.map((task, i) => (i === index ? { ...task, ...part } : task)));
  return (
    <fieldset class="tasks">
      <legend>Checklist</legend>
      {value.map((task, i) => (
        <div class="task-fields" key={i}>
          <input
            aria-label={`Subject of task ${i + 1}`}
            placeholder="What is to be done"
            value={task.subject}
            onInput={(event) => set(i, { subject: event.currentTarget.value })}
          />
          <input
            class="mono"
            aria-label={`ID of task ${i + 1}`}
            placeholder="ID"
            value={task.id}
            onInput={(event) => set(i, { id: event.currentTarget.value })}
          />
          <input
            class="mono"
            aria-label={`Task ${i + 1} waits for`}
            placeholder="waits for"
            value={task.blockedBy}
            onInput={(event) => set(i, { blockedBy: event.currentTarget.value })}
          />
          <button
            type="button"
            class="plain icon-only"
            aria-label={`Remove task ${i + 1}`}
            onClick={() => onChange(value.filter((_, j) => j !== i))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <button
        type="button"
        class="link"
        onClick={() => onChange([...value, { id: "", subject: "", blockedBy: "" }])}
      >
        Add a task
      </button>
    </fieldset>
  );
}

export function tasksOf(drafts: readonly TaskDraft[]) {
  return drafts
    .filter(({ subject }) => subject.trim() !== "")
    .map(({ id, subject, blockedBy }) => ({
      id: id.trim(),
      subject,
      blockedBy: blockedBy.split(/[\s,]+/).filter(Boolean),
    }));
}
