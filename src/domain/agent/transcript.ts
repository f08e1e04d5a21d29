import { toJsonString } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { TurnOutcome } from "../../../gen/retinue/v1/agent_pb.js";
import { type EventPayload, EventType } from "../../../gen/retinue/v1/event_pb.js";

/** The events that a transcript tells of. */
export const TRANSCRIPT_TYPES: readonly EventType[] = [
  EventType.AGENT_SPAWNED,
  EventType.TURN_STARTED,
  EventType.TURN_ENDED,
  EventType.FOLLOW_UP_DELIVERED,
  EventType.MESSAGE,
  EventType.TOOL_CALL,
  EventType.TOOL_RESULT,
  EventType.INPUT_REQUESTED,
  EventType.REPO_PUSHED,
  EventType.ERROR,
];

/** One event as a piece of Markdown; empty for what a transcript does not tell. */
export function transcriptPiece({ kind }: EventPayload): string {
  switch (kind.case) {
    case "spawned":
      return `# The work\n\n${kind.value.description}`;
    case "turnStarted":
      return `## Run ${kind.value.runId}`;
    case "turnEnded": {
      const { outcome, error } = kind.value;
      const words = TurnOutcome[outcome].toLowerCase().replaceAll("_", " ");
      return `*The run ended: ${words}${error ? `, ${error.message}` : ""}.*`;
    }
    case "followUp":
      return `**Message:** ${kind.value.followUp?.description ?? ""}`;
    case "message":
      return kind.value.text + (kind.value.partial ? " *(cut off)*" : "");
    case "toolCall": {
      const input = kind.value.input ? toJsonString(ValueSchema, kind.value.input) : "";
      return `**Tool:** ${kind.value.title}${input === "" ? "" : `\n\n${fenced(input)}`}`;
    }
    case "toolResult":
      return `**${kind.value.failed ? "Failed" : "Result"}:**\n\n${fenced(kind.value.output)}`;
    case "inputRequested":
      return `**Question:** ${kind.value.question}`;
    case "repoPushed": {
      const { repo, branch, commit } = kind.value;
      return `**Pushed:** ${repo} ${branch} at ${commit.slice(0, 12)}`;
    }
    case "error":
      return `**Error:** ${kind.value.message}`;
    default:
      return "";
  }
}

/** A block that no run of backticks within can end. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
