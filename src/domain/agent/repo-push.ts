import { EventType } from "../../../gen/retinue/v1/event_pb.js";
import type { Agent } from "./agent.js";
import {
  type Context,
  type Decision,
  decided,
  openDraft,
  type Reported,
  record,
  unchanged,
} from "./decision.js";
import { matchesAny } from "./glob.js";
import { promoteDue } from "./queue.js";
import { isLiveTask, type Task } from "./task.js";
import { writeTasks } from "./task-list.js";
import { type Fence, fencedTurn } from "./turn.js";

export interface RepoPush extends Fence {
  readonly repo: string;
  readonly branch: string;
  readonly commit: string;
  readonly files: readonly string[];
}

/** A push of the run that is held: activates the tasks whose pattern it touches. */
export function repoPushed(agent: Agent, push: RepoPush, context: Context): Decision<Reported> {
  if (fencedTurn(agent, push) === undefined) return unchanged(agent, { stale: true });
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  const { repo, branch, commit, files } = push;
  const value = { repo, branch, commit, files: [...files] };
  record(draft, EventType.REPO_PUSHED, { case: "repoPushed", value });
  const touched = ({ filesModified, active }: Task) =>
    filesModified !== undefined && !active && matchesAny(filesModified, files);
  const { tasks } = draft.agent;
  if (tasks.some(touched)) {
    writeTasks(
      draft,
      tasks.map((task) => (isLiveTask(task) && touched(task) ? { ...task, active: true } : task)),
    );
  }
  return decided(draft, { stale: false });
}
