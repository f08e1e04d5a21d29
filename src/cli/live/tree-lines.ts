import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import { type Task, TaskStatus } from "../../../gen/retinue/v1/task_pb.js";
import type { Paint } from "../paint.js";
import { cut, oneLine, widthOf } from "../text.js";
import { span } from "../time.js";
import { hasEnded, money, PHASES, TASKS } from "../words.js";
import type { AgentView } from "./agent-view.js";

export interface Drawing {
  readonly paint: Paint;
  readonly columns: number;
  readonly nowMs: number;
  /** Turns while something runs, so that a still picture is told from a stuck one. */
  readonly frame: number;
}

const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const BAR = 10;

/** The live tree: each agent with what it is doing, its checklist, and its children below it. */
export function treeLines(views: readonly AgentView[], drawing: Drawing): string[] {
  const paths = views.map(({ id }) => id.agent.join("/"));
  const isChild = (view: AgentView, parent: string) => view.id.agent.slice(0, -1).join("/") === parent;
  const draw = (view: AgentView, first: string, rest: string): string[] => {
    const children = views.filter((other) => isChild(other, view.id.agent.join("/")));
    const trunk = children.length > 0 ? "│ " : "  ";
    return [
      ...agentLines(view, first, `${rest}${trunk}`, drawing),
      ...children.flatMap((child, i) => {
        const last = i === children.length - 1;
        return draw(child, `${rest}${last ? "└─" : "├─"} `, `${rest}${last ? "  " : "│ "} `);
      }),
    ];
  };
  const roots = views.filter(({ id }) => !paths.includes(id.agent.slice(0, -1).join("/")));
  return roots.flatMap((root) => draw(root, "", ""));
}

function agentLines(view: AgentView, first: string, rest: string, drawing: Drawing): string[] {
  const { paint, columns } = drawing;
  const { word, colour } = PHASES[view.phase];
  const name = view.id.agent.at(-1) ?? "";
  const facts = [
    paint(colour, word),
    view.phase === Phase.SLEEPING && view.wakeAtMs !== undefined && view.wakeAtMs > drawing.nowMs
      ? `wakes in ${span(view.wakeAtMs - drawing.nowMs)}`
      : hasEnded(view.phase)
        ? ""
        : span(drawing.nowMs - view.sinceMs),
    view.run > 0n ? `run ${view.run}` : "",
    view.cost > 0 ? money(view.cost) : "",
    view.queued.size > 0 ? `${view.queued.size} queued` : "",
    progress(view.tasks),
  ].filter((fact) => fact !== "");
  const head = `${first}${paint(colour, markOf(view, drawing))} ${paint("bold", name)}  `;
  const short = cutPainted(facts, columns - widthOf(head));
  const doing = view.tool === "" ? view.speech : `⚙ ${view.tool}`;
  const text = view.phase === Phase.RUNNING ? doing : view.outcome;
  const textColour = view.phase === Phase.RUNNING ? "dim" : colour;
  const say = oneLine(text);
  return [
    head + short,
    ...view.tasks.map((task) => {
      const { mark, colour: taskColour } = TASKS[task.status];
      return `${rest}${paint(taskColour, mark)} ${cut(oneLine(task.subject), columns - widthOf(rest) - 2)}`;
    }),
    ...(say === "" ? [] : [`${rest}${paint(textColour, cut(say, columns - widthOf(rest)))}`]),
  ];
}

function markOf({ phase }: AgentView, { frame }: Drawing): string {
  return phase === Phase.RUNNING ? (SPINNER[frame % SPINNER.length] as string) : PHASES[phase].mark;
}

function progress(tasks: readonly Task[]): string {
  const counted = tasks.filter(({ active }) => active);
  if (counted.length === 0) return "";
  const done = counted.filter(({ status }) => status === TaskStatus.COMPLETED).length;
  const full = Math.round((done / counted.length) * BAR);
  return `${"▰".repeat(full)}${"▱".repeat(BAR - full)} ${done}/${counted.length}`;
}

/** As many facts as fit: what is cut in the middle of a colour would run on. */
function cutPainted(facts: readonly string[], columns: number): string {
  let line = "";
  for (const fact of facts) {
    const next = line === "" ? fact : `${line} · ${fact}`;
    if (widthOf(next) > columns) break;
    line = next;
  }
  return line;
}
