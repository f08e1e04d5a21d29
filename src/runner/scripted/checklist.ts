import { TOOL } from "../agent-tools.js";
import type { Turn } from "./turn.js";

interface Item {
  readonly id: string;
  readonly subject: string;
  readonly open: boolean;
  readonly blockedBy: readonly string[];
}

/** Takes each open task in hand and ticks it off, blockers first; what is refused is said and left. */
export async function walkChecklist(turn: Turn): Promise<void> {
  const answer = await turn.use(TOOL.checklist, {});
  if (answer === undefined) return;
  const items = Array.isArray(answer.value.tasks) ? answer.value.tasks.flatMap(readItem) : [];
  for (const item of inOrder(items.filter((candidate) => candidate.open))) {
    if ((await turn.use(TOOL.taskUpdate, { id: item.id, status: "in_progress" })) === undefined) continue;
    await turn.say(`working on ${item.id}: ${item.subject}`);
    await turn.use(TOOL.taskUpdate, { id: item.id, status: "completed" });
  }
}

/** What waits for nothing in the list goes first. A circle cannot be; were there one, the platform would refuse. */
function inOrder(items: readonly Item[]): Item[] {
  const ordered: Item[] = [];
  const left = new Map(items.map((item) => [item.id, item]));
  while (left.size > 0) {
    const free = [...left.values()].filter((item) => !item.blockedBy.some((id) => left.has(id)));
    for (const item of free.length > 0 ? free : left.values()) {
      ordered.push(item);
      left.delete(item.id);
    }
  }
  return ordered;
}

function readItem(value: unknown): Item[] {
  if (typeof value !== "object" || value === null) return [];
  const { id, subject, status, active, blockedBy } = value as Record<string, unknown>;
  if (typeof id !== "string") return [];
  const state = String(status).toLowerCase().replace("task_status_", "");
  return [
    {
      id,
      subject: String(subject ?? ""),
      open: active !== false && (state === "pending" || state === "in_progress"),
      blockedBy: Array.isArray(blockedBy) ? blockedBy.map(String) : [],
    },
  ];
}
