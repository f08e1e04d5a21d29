import type { JsonValue } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { type LastTurn, Phase, TurnOutcome } from "../../../gen/retinue/v1/agent_pb.js";
import { type Event, EventType, type FollowUpChanged } from "../../../gen/retinue/v1/event_pb.js";
import { type Task, TaskStatus } from "../../../gen/retinue/v1/task_pb.js";
import { firstLine, msOf } from "./format.js";
import { isTerminal, PHASES } from "./phases.js";

/** A piece of the conversation as it is read, top to bottom. */
export type Item = { readonly seq: string; readonly at: number } & (
  | { readonly kind: "run"; readonly runId: string; readonly attempt: number }
  | { readonly kind: "runEnd"; readonly turn: LastTurn }
  | { readonly kind: "said"; readonly sender: string; readonly text: string }
  | { readonly kind: "message"; readonly text: string; readonly partial: boolean }
  | { readonly kind: "question"; readonly text: string }
  | {
      readonly kind: "tool";
      readonly title: string;
      readonly input: JsonValue | undefined;
      readonly output: string | undefined;
      readonly failed: boolean;
      readonly minor: boolean;
    }
  | {
      readonly kind: "note";
      readonly tone: "plain" | "good" | "bad" | "child";
      readonly text: string;
      /** Shown only to those who want everything. */
      readonly minor: boolean;
      readonly childUid?: string;
    }
);

/** The log as a conversation: calls and results become one, what only repeats other things is minor. */
export function conversationOf(events: readonly Event[]): Item[] {
  const results = new Map<string, Event>();
  const calls = new Set<string>();
  for (const event of events) {
    const kind = event.payload?.kind;
    if (kind?.case === "toolResult") results.set(`${event.runId}/${kind.value.toolCallId}`, event);
    if (kind?.case === "toolCall") calls.add(`${event.runId}/${kind.value.toolCallId}`);
  }
  return events.flatMap((event) => {
    const item = itemOf(event, results, calls);
    return item === undefined ? [] : [{ seq: String(event.seq), at: msOf(event.time) ?? 0, ...item }];
  });
}

type Bare<T> = T extends unknown ? Omit<T, "seq" | "at"> : never;

function itemOf(
  event: Event,
  results: ReadonlyMap<string, Event>,
  calls: ReadonlySet<string>,
): Bare<Item> | undefined {
  const kind = event.payload?.kind;
  switch (kind?.case) {
    case "spawned":
      return { kind: "said", sender: event.actor, text: kind.value.description };
    case "turnStarted":
      return { kind: "run", runId: String(kind.value.runId), attempt: kind.value.attempt };
    case "turnEnded":
      return { kind: "runEnd", turn: kind.value };
    case "message":
      return { kind: "message", text: kind.value.text, partial: kind.value.partial };
    case "inputRequested":
      return { kind: "question", text: kind.value.question };
    case "followUp":
      return followUpItem(event.type, kind.value);
    case "phase": {
      const { to, reason } = kind.value;
      const text = `${PHASES[to].label}${reason === "" ? "" : `: ${reason}`}`;
      const tone = to === Phase.COMPLETED ? "good" : to === Phase.FAILED ? "bad" : "plain";
      return note(text, { tone, minor: !isTerminal(to) });
    }
    case "task":
      return note(taskText(event.type, kind.value), { minor: event.type === EventType.TASK_CREATED });
    case "settings": {
      const { model, agent, reasoningEffort } = kind.value;
      return note(`Settings changed: ${[agent, model, reasoningEffort].filter(Boolean).join(", ")}`, {});
    }
    case "toolCall": {
      const { toolCallId, title, input } = kind.value;
      const answer = results.get(`${event.runId}/${toolCallId}`)?.payload?.kind;
      const result = answer?.case === "toolResult" ? answer.value : undefined;
      return {
        kind: "tool",
        title,
        input: input && toJson(ValueSchema, input),
        output: result?.output,
        failed: result?.failed ?? false,
        // What our own tools do is told by events of its own, unless it was refused.
        minor: title.startsWith("retinue_") && result?.failed === false,
      };
    }
    case "toolResult": {
      if (calls.has(`${event.runId}/${kind.value.toolCallId}`)) return undefined;
      const { output, failed } = kind.value;
      return { kind: "tool", title: "Answer of a tool", input: undefined, output, failed, minor: true };
    }
    case "child": {
      const { child, phase, result } = kind.value;
      const name = child?.agent.at(-1) ?? "";
      const spawned = event.type === EventType.CHILD_SPAWNED;
      const end = `Child ${name} ${PHASES[phase].label.toLowerCase()}${result === "" ? "" : `: ${firstLine(result)}`}`;
      return note(spawned ? `Spawned child ${name}` : end, { tone: "child", childUid: child?.uid ?? "" });
    }
    case "repoPushed": {
      const { repo, branch, commit, files } = kind.value;
      return note(`Pushed ${commit.slice(0, 10)} to ${branch} of ${repo} (${files.length} files)`, {
        tone: "good",
      });
    }
    case "usage":
      return note(`Used ${kind.value.totalTokens} tokens, $${kind.value.cost}`, { minor: true });
    case "error": {
      const { kind: error, message } = kind.value;
      return note(
        `${event.type === EventType.RUNNER_LOST ? "Process lost" : "Error"} (${error}): ${message}`,
        {
          tone: "bad",
        },
      );
    }
    default:
      return undefined;
  }
}

function note(
  text: string,
  more: { tone?: "plain" | "good" | "bad" | "child"; minor?: boolean; childUid?: string },
) {
  return { kind: "note", tone: "plain", minor: false, text, ...more } as const;
}

function followUpItem(type: EventType, { followUp, reason }: FollowUpChanged): Bare<Item> {
  const text = followUp?.description ?? "";
  const sender = followUp?.sender ?? "";
  if (type === EventType.FOLLOW_UP_DELIVERED) return { kind: "said", sender, text };
  const short = firstLine(text);
  if (type === EventType.FOLLOW_UP_CLEARED) return note(`Discarded (${reason}): ${short}`, { tone: "bad" });
  // News of a child that the agent has been told otherwise takes itself back.
  if (type === EventType.FOLLOW_UP_REMOVED)
    return note(`Taken back: ${short}`, { minor: sender === "platform" });
  if (type === EventType.FOLLOW_UP_DEFERRED) return note(`Deferred: ${short}`, {});
  return note(`Queued: ${short}`, { minor: true });
}

const TASK_WORDS: Readonly<Record<TaskStatus, string>> = {
  [TaskStatus.UNSPECIFIED]: "Changed",
  [TaskStatus.PENDING]: "Put back",
  [TaskStatus.IN_PROGRESS]: "Working on",
  [TaskStatus.COMPLETED]: "Done",
  [TaskStatus.DELETED]: "Removed",
};

function taskText(type: EventType, task: Task): string {
  if (type === EventType.TASK_CREATED) return `New task: ${task.subject}`;
  if (type === EventType.TASK_ACTIVATED) return `Task became active: ${task.subject}`;
  return `${TASK_WORDS[task.status]}: ${task.subject}`;
}

export const OUTCOMES: Readonly<Record<TurnOutcome, string>> = {
  [TurnOutcome.UNSPECIFIED]: "ended",
  [TurnOutcome.COMPLETED]: "ended",
  [TurnOutcome.INTERRUPTED]: "interrupted",
  [TurnOutcome.KILLED]: "killed",
  [TurnOutcome.TIMED_OUT]: "timed out",
  [TurnOutcome.FAILED]: "failed",
  [TurnOutcome.OVER_BUDGET]: "over budget",
};
