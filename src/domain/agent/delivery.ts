import type { FollowUp } from "./follow-up.js";
import type { Task } from "./task.js";

/** The messages that the next turn takes: one of a caller, or all adjacent ones made by the platform. */
export function nextDelivery(queued: readonly FollowUp[]): readonly FollowUp[] {
  if (queued[0]?.origin === "caller") return queued.slice(0, 1);
  const end = queued.findIndex((followUp) => followUp.origin === "caller");
  return end === -1 ? queued : queued.slice(0, end);
}

/** The tasks that a delivery brings; of those with the same `dedupKey` the first wins. */
export function deliveredTasks(batch: readonly FollowUp[]): Task[] {
  const seen = new Set<string>();
  return batch
    .flatMap((followUp) => followUp.tasks)
    .filter(({ dedupKey }) => {
      if (dedupKey === "") return true;
      const first = !seen.has(dedupKey);
      seen.add(dedupKey);
      return first;
    });
}
