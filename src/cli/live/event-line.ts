import { toJson } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { type Event, type EventPayload, EventType } from "../../../gen/retinue/v1/event_pb.js";
import { pathOf } from "../agent-address.js";
import type { Colour, Paint } from "../paint.js";
import { clean, cut, oneLine } from "../text.js";
import { localTime } from "../time.js";
import { FOLLOW_UPS, money, OUTCOMES, PHASES, TASKS, tokens } from "../words.js";

/** Whole files come back from tools; `-o json` has them. */
const RESULT_COLUMNS = 160;

/** What an event says, and in which colour. */
interface Told {
  readonly text: string;
  readonly colour?: Colour;
}

/** An event as lines: time, agent where several are shown, and what happened. */
export function eventLines(event: Event, paint: Paint, agentWidth = 0): string[] {
  const told = tell(event);
  if (told === undefined) return [];
  const time = paint("dim", localTime(event.time).slice(11));
  const agent = agentWidth === 0 ? "" : `${paint("bold", pathOf(event.agentId).padEnd(agentWidth))}  `;
  const indent = " ".repeat(8 + 2 + (agentWidth === 0 ? 0 : agentWidth + 2));
  return told.text
    .split("\n")
    .map((line, i) => `${i === 0 ? `${time}  ${agent}` : indent}${paint(told.colour, line)}`);
}

function tell({ type, runId, payload, actor }: Event): Told | undefined {
  const kind = payload?.kind;
  const marks = payload?.truncated ? " […]" : "";
  switch (kind?.case) {
    case "spawned":
      return { text: `spawned by ${actor}: ${clean(kind.value.description).trim()}${marks}`, colour: "dim" };
    case "phase": {
      const { word, mark, colour } = PHASES[kind.value.to];
      return { text: `${mark} ${word}${reason(kind.value.reason)}`, colour };
    }
    case "turnStarted":
      return {
        text: `run ${runId} started${kind.value.attempt > 1 ? `, attempt ${kind.value.attempt}` : ""}`,
        colour: "dim",
      };
    case "turnEnded":
      return {
        text: `run ${runId} ${OUTCOMES[kind.value.outcome]}${reason(kind.value.error?.message ?? "")}`,
        colour: "dim",
      };
    case "followUp": {
      const { followUp, reason: why } = kind.value;
      const what = type === EventType.FOLLOW_UP_DEFERRED ? `until ${localTime(followUp?.deliverAt)}` : "";
      const state = FOLLOW_UPS[followUp?.state ?? 0];
      return {
        text: `message ${[state, what].filter(Boolean).join(" ")} from ${followUp?.sender}${reason(why)}: ${oneLine(followUp?.description ?? "")}`,
        colour: "blue",
      };
    }
    case "task": {
      const { mark, word, colour } = TASKS[kind.value.status];
      return {
        text: `${mark} ${oneLine(kind.value.subject)} (${type === EventType.TASK_ACTIVATED ? "active" : word})`,
        colour,
      };
    }
    case "message":
      return { text: `${clean(kind.value.text).trim()}${kind.value.partial ? " […]" : ""}${marks}` };
    default:
      return tellRest(kind, marks);
  }
}

function tellRest(kind: EventPayload["kind"] | undefined, marks: string): Told | undefined {
  switch (kind?.case) {
    case "settings":
      return { text: `settings: persona ${kind.value.agent}, model ${kind.value.model}`, colour: "dim" };
    case "toolCall":
      return {
        text: `⚙ ${oneLine(kind.value.title)} ${kind.value.input === undefined ? "" : inputText(kind.value.input)}${marks}`,
        colour: "magenta",
      };
    case "toolResult": {
      const output = cut(oneLine(kind.value.output), RESULT_COLUMNS);
      return (output === "" || output === "{}") && !kind.value.failed
        ? undefined
        : {
            text: `  ${kind.value.failed ? "✗" : "↳"} ${output}${marks}`,
            colour: kind.value.failed ? "red" : "dim",
          };
    }
    case "inputRequested":
      return { text: `? ${clean(kind.value.question)}`, colour: "yellow" };
    case "child":
      return {
        text: `child ${pathOf(kind.value.child)} ${PHASES[kind.value.phase].word}${reason(kind.value.result)}`,
        colour: "dim",
      };
    case "repoPushed":
      return {
        text: `pushed ${kind.value.branch} of ${kind.value.repo} at ${kind.value.commit.slice(0, 12)}`,
        colour: "magenta",
      };
    case "usage":
      return {
        text: `used ${tokens(kind.value.totalTokens)} tokens, ${money(kind.value.cost)}`,
        colour: "dim",
      };
    case "error":
      return { text: `${kind.value.kind}: ${clean(kind.value.message)}`, colour: "red" };
    default:
      return undefined;
  }
}

function reason(text: string): string {
  const line = oneLine(text);
  return line === "" ? "" : `: ${line}`;
}

function inputText(input: Value): string {
  return oneLine(JSON.stringify(toJson(ValueSchema, input)));
}
