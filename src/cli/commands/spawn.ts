import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Command, Option } from "commander";
import { type BudgetLimitsSchema, IdlePolicy } from "../../../gen/retinue/v1/agent_pb.js";
import {
  type SpawnAgentResponse,
  SpawnAgentResponseSchema,
} from "../../../gen/retinue/v1/agent_service_pb.js";
import { agentIdOf, pathOf } from "../agent-address.js";
import { awaitAgent } from "../await-agent.js";
import { act, addCommonOptions, type Cli, type CommonOptions } from "../cli.js";
import { usageError } from "../exit.js";
import { collect, splitPair, textOf, wholeNumber } from "../input.js";
import { followAgent } from "../live/follow.js";
import { addSettingsOptions, type SettingsOptions, settingsOf } from "../settings-options.js";
import { momentOf, parseDuration } from "../time.js";

interface SpawnOptions extends CommonOptions, SettingsOptions {
  readonly file?: string;
  readonly follow?: boolean;
  readonly wait?: boolean;
  readonly workspace?: string;
  readonly account?: string;
  readonly tenant?: string;
  readonly environment?: string;
  readonly expectedOutput?: string;
  readonly label?: readonly string[];
  readonly startAt?: string;
  readonly startIn?: string;
  readonly idlePolicy?: "rest" | "complete";
  readonly maxCost?: string;
  readonly maxTokens?: string;
  readonly maxTurns?: string;
  readonly maxTime?: string;
  readonly requestId?: string;
}

const IDLE = { rest: IdlePolicy.REST, complete: IdlePolicy.COMPLETE } as const;

export function addSpawn(program: Command): void {
  const command = addCommonOptions(program.command("spawn"))
    .description("start an agent")
    .argument("[name]", "its path: NAME, PARENT/NAME for a child; empty: the server makes a name up")
    .argument("[description...]", "the work, in words; - reads it from standard input")
    .option("-f, --file <file>", "read the work from a file")
    .option("--follow", "show it live until it has ended or wants input; Ctrl-C leaves it running")
    .option("--wait", "wait until it has ended or wants input")
    .option("-w, --workspace <name>", "workspace; the server selects one otherwise")
    .option("--account <owner>", "owner of the agent: ACCOUNT, or PROVIDER/ACCOUNT")
    .option("--tenant <tenant>", "organisation: PROVIDER/ORG")
    .option("--environment <name>", "environment document; the workspace's otherwise")
    .option("--expected-output <text>", "what you want as a result, in words")
    .addOption(new Option("-l, --label <label>", "NAME=VALUE; may be repeated").argParser(collect))
    .option("--start-at <time>", "do not start before: 2026-11-30T09:00:00Z, 09:00")
    .option("--start-in <duration>", "do not start earlier than in: 30m, 2h")
    .addOption(
      new Option("--idle-policy <policy>", "what a plain end of a turn means").choices(Object.keys(IDLE)),
    )
    .option("--max-cost <usd>", "budget in US dollars, for it and everything below it")
    .option("--max-tokens <n>", "budget in tokens")
    .option("--max-turns <n>", "budget in turns")
    .option("--max-time <duration>", "budget in time since the spawn")
    .option("--request-id <id>", "makes it safe to run the same command again");
  act<SpawnOptions, [string | undefined, string[]]>(addSettingsOptions(command), spawn);
}

async function spawn(
  cli: Cli,
  options: SpawnOptions,
  name: string | undefined,
  words: string[],
): Promise<void> {
  if (options.follow && options.wait) throw usageError("--follow and --wait exclude each other");
  const startAt = momentOf(options.startAt, options.startIn, ["--start-at", "--start-in"]);
  const budget = budgetOf(options);
  const made = await cli.server().agents.spawnAgent({
    agentId: agentIdOf(name ?? "", options),
    description: textOf(words, options.file),
    expectedOutput: options.expectedOutput ?? "",
    ...settingsOf(options),
    environment: options.environment ?? "",
    labels: Object.fromEntries((options.label ?? []).map(splitPair)),
    ...(startAt === undefined ? {} : { startAt: timestampFromDate(startAt) }),
    ...(options.idlePolicy === undefined ? {} : { idlePolicy: IDLE[options.idlePolicy] }),
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
    requestId: options.requestId ?? "",
  });
  const agentId = made.agentId;
  if (agentId === undefined) throw new Error("the server answered a spawn without an agent");
  if (options.follow) return followAgent(cli, { agentId, fresh: true });
  if (options.wait) {
    cli.terminal.note(spawnedLine(cli, made));
    return awaitAgent(cli, { agentId });
  }
  cli.show(SpawnAgentResponseSchema, made, () => {
    const path = pathOf(agentId);
    return [spawnedLine(cli, made), `  → follow it: retinue follow ${path}`];
  });
}

function spawnedLine(
  { terminal: { paint } }: Cli,
  { agentId, created, dashboardUrl }: SpawnAgentResponse,
): string {
  const what = created ? "spawned" : "was spawned before";
  return `${paint("bold", pathOf(agentId))} ${what} in workspace ${agentId?.workspace}  ${paint("dim", dashboardUrl)}`;
}

function budgetOf({
  maxCost,
  maxTokens,
  maxTurns,
  maxTime,
}: SpawnOptions): MessageInitShape<typeof BudgetLimitsSchema> {
  if (maxCost !== undefined && !(Number(maxCost) > 0))
    throw usageError(`--max-cost ${maxCost}: must be dollars above 0`);
  return {
    ...(maxCost === undefined ? {} : { maxCostUsd: Number(maxCost) }),
    ...(maxTokens === undefined ? {} : { maxTokens: BigInt(wholeNumber(maxTokens, "--max-tokens")) }),
    ...(maxTurns === undefined ? {} : { maxTurns: BigInt(wholeNumber(maxTurns, "--max-turns")) }),
    ...(maxTime === undefined ? {} : { maxWallTime: durationFromMs(parseDuration(maxTime, "--max-time")) }),
  };
}
