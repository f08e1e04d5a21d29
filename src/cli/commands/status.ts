import type { Command } from "commander";
import { type AgentStatus, AgentStatusSchema, Phase } from "../../../gen/retinue/v1/agent_pb.js";
import {
  type AddressOptions,
  AGENT_ARGUMENT,
  addAddressOptions,
  agentIdOf,
  pathOf,
  providerName,
} from "../agent-address.js";
import { act, addCommonOptions, type CommonOptions } from "../cli.js";
import { fieldLines, said } from "../fields.js";
import { jsonOf } from "../output.js";
import type { Paint } from "../paint.js";
import { cut, oneLine } from "../text.js";
import { age, localTime } from "../time.js";
import { FOLLOW_UPS, money, OUTCOMES, PHASES, SOURCES, TASKS, TURN_STATES, tokens } from "../words.js";

const SHORT = 100;

export function addStatus(program: Command): void {
  const command = addAddressOptions(addCommonOptions(program.command("status")))
    .description("show everything there is to say about an agent")
    .argument("<agent>", AGENT_ARGUMENT);
  act<CommonOptions & AddressOptions, [string]>(command, async (cli, options, path) => {
    const { status } = await cli.server().agents.getAgentStatus({ agentId: agentIdOf(path, options) });
    if (status === undefined) throw new Error("the server answered without a status");
    cli.show(AgentStatusSchema, status, () => statusLines(status, cli.terminal.paint));
  });
}

function statusLines(status: AgentStatus, paint: Paint): string[] {
  const { agentId, turn, lastTurn, lastError, budget } = status;
  const { word, colour } = PHASES[status.phase];
  const owner = `${providerName(agentId?.ownerProvider ?? 0)}/${agentId?.account}`;
  return fieldLines(paint, [
    ["agent", paint("bold", pathOf(agentId))],
    ["phase", `${paint(colour, word)} for ${age(status.phaseSince)}${why(status)}`],
    ["wants", paint("yellow", said(status.needsInput))],
    ["result", said(status.result)],
    ["output", status.structuredOutput === undefined ? "" : JSON.stringify(outputOf(status), null, 2)],
    ["error", lastError === undefined ? "" : paint("red", `${lastError.kind}: ${said(lastError.message)}`)],
    [
      "turn",
      turn === undefined
        ? ""
        : `run ${turn.runId}, attempt ${turn.attempt}, ${TURN_STATES[turn.state]} for ${age(turn.startedAt)}`,
    ],
    [
      "last turn",
      lastTurn === undefined
        ? ""
        : `run ${lastTurn.runId} ${OUTCOMES[lastTurn.outcome]}: ${cut(oneLine(lastTurn.summary), SHORT)}`,
    ],
    ["work", cut(oneLine(status.description), SHORT)],
    ["wants back", said(status.expectedOutput)],
    ["settings", settingsText(status)],
    [
      "tasks",
      status.tasks
        .map(
          (task) => `${paint(TASKS[task.status].colour, TASKS[task.status].mark)} ${oneLine(task.subject)}`,
        )
        .join("\n"),
    ],
    [
      "messages",
      status.followUps
        .map(
          ({ state, deliverAt, description }) =>
            `${FOLLOW_UPS[state]}${deliverAt ? ` until ${localTime(deliverAt)}` : ""}: ${cut(oneLine(description), SHORT)}`,
        )
        .join("\n"),
    ],
    ["children", status.children.map(({ phase, count }) => `${count} ${PHASES[phase].word}`).join(", ")],
    [
      "cost",
      `${money(status.cost)}${status.subtreeCost > status.cost ? `, ${money(status.subtreeCost)} with all below it` : ""}; ${tokens(status.totalTokens)} tokens`,
    ],
    [
      "budget",
      budget?.limits?.maxCostUsd === undefined
        ? ""
        : `${money(budget.spent?.maxCostUsd ?? 0)} of ${money(budget.limits.maxCostUsd)}`,
    ],
    [
      "labels",
      Object.entries(status.labels)
        .map(([name, value]) => `${name}=${said(value)}`)
        .join(" "),
    ],
    ["owner", `${owner}, workspace ${agentId?.workspace}`],
    ["repos", status.repos.join("\n")],
    [
      "runs on",
      [status.runtime?.runnerId, status.runtime?.build, status.runtime?.isolation].filter(Boolean).join(", "),
    ],
    ["spawned", `${localTime(status.createdAt)}, ${age(status.createdAt)} ago`],
    ["uid", status.uid],
    ["page", status.dashboardUrl],
  ]);
}

function why(status: AgentStatus): string {
  if (status.phase === Phase.PENDING && status.pendingReason !== "") return `: ${status.pendingReason}`;
  if (status.phase === Phase.SLEEPING && status.nextWakeAt)
    return `, wakes at ${localTime(status.nextWakeAt)}`;
  return "";
}

function outputOf(status: AgentStatus) {
  return (jsonOf(AgentStatusSchema, status) as { structuredOutput?: unknown }).structuredOutput;
}

/** Each setting, and where it came from. */
function settingsText({ settings }: AgentStatus): string {
  if (settings === undefined) return "";
  const named: [string, string, string][] = [
    ["agent", "persona", settings.agent],
    ["model", "model", settings.model],
    ["reasoningEffort", "effort", settings.reasoningEffort],
    ["serviceTier", "tier", settings.serviceTier],
    ["fastMode", "fast mode", settings.fastMode ? "on" : ""],
    ["outputSchema", "output schema", settings.outputSchema === "" ? "" : "set"],
  ];
  return named
    .filter(([, , value]) => value !== "")
    .map(([field, name, value]) => `${name} ${value} (${SOURCES[settings.sources[field] ?? 0]})`)
    .join(", ");
}
