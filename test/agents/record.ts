import { BACKENDS } from "./bench.js";
import { fixATest } from "./fix-a-test.js";
import type { Json } from "./model/http.js";

const LINE_MAX = 160;

/** Plays the run of the test for both programs, and tells it as the page docs/recorded-run.md. */
export async function recordedRun(): Promise<string> {
  const lines = [
    "# A recorded run",
    "",
    "Real agent programs mend a failing test in a real git repository: they run it, change the code, run it again, push",
    "their branch, do the task that the push opens, and complete with a structured result. The model behind them is a",
    "stand-in that plays the steps written in its prompt (`test/agents/fix-a-test.ts`); everything else is the service as",
    "it is. `npm run test:agents` plays the same run and checks it; `npm run record:agents` writes this page.",
  ];
  for (const backend of BACKENDS) {
    const { status, events, folders } = await fixATest(backend);
    lines.push(
      ...[
        "",
        `## ${status.runtime.build}, model ${status.settings.model}, isolation ${status.runtime.isolation}`,
        "",
      ],
      ...["| # | +s | event | |", "|---|---|---|---|"],
      ...events.map((event) => row(event, Date.parse(events[0].time), [...folders, status.uid])),
      ...["", "```json", JSON.stringify(resultOf(status), null, 2), "```"],
    );
  }
  return `${lines.join("\n")}\n`;
}

function resultOf({ phase, result, structuredOutput, totalTokens, cost }: Json): Json {
  return { phase, result, structuredOutput, totalTokens, cost: Number(cost.toFixed(6)) };
}

function row(event: Json, startMs: number, hidden: readonly string[]): string {
  const seconds = ((Date.parse(event.time) - startMs) / 1000).toFixed(1);
  const type = event.type.replace("EVENT_TYPE_", "").toLowerCase().replaceAll("_", " ");
  return `| ${event.seq} | ${seconds} | ${type} | ${shown(event.payload, hidden)} |`;
}

/** The part of a payload that a person would look at, in one line. */
function shown(payload: Json, hidden: readonly string[]): string {
  const plain = hidden.reduce((text, part) => text.replaceAll(part, "…"), partOf(payload));
  const line = plain.replaceAll("```", "").replaceAll(/\s+/g, " ").replaceAll("|", "\\|").trim();
  return line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)}…` : line;
}

function partOf({
  message,
  toolCall,
  toolResult,
  repoPushed,
  task,
  turnEnded,
  phase,
  setup,
  usage,
}: Json): string {
  if (message) return message.text;
  if (toolCall) return toolCall.input?.command ?? toolCall.title;
  if (toolResult) return toolResult.output;
  if (repoPushed) return `${repoPushed.branch}: ${repoPushed.files.join(", ")}`;
  if (task) return `${task.id}: ${word(task.status)}`;
  if (turnEnded) return word(turnEnded.outcome);
  if (phase) return word(phase.to);
  if (setup) return `${setup.name}: ${word(setup.state)}`;
  return usage ? `${usage.totalTokens} tokens, $${usage.cost.toFixed(4)}` : "";
}

/** An enum's value, without the name of the enum. */
function word(value: string): string {
  return value
    .replace(/^(TASK_STATUS|TURN_OUTCOME|PHASE|SETUP_STATE)_/, "")
    .toLowerCase()
    .replaceAll("_", " ");
}
