import { type Command, Option } from "commander";
import type { AgentId } from "../../../gen/retinue/v1/agent_id_pb.js";
import type { Event } from "../../../gen/retinue/v1/event_pb.js";
import { EventSchema, EventType } from "../../../gen/retinue/v1/event_pb.js";
import { type AddressOptions, AGENT_ARGUMENT, addAddressOptions, agentIdOf } from "../agent-address.js";
import { act, addCommonOptions, type Cli, type CommonOptions } from "../cli.js";
import { usageError } from "../exit.js";
import { collect, wholeNumber } from "../input.js";
import { leavable } from "../interrupt.js";
import { eventLines } from "../live/event-line.js";
import { parseCursor, watch } from "../live/watch.js";
import { jsonOf } from "../output.js";

interface LogsOptions extends CommonOptions, AddressOptions {
  readonly follow?: boolean;
  readonly after?: string;
  readonly run?: string;
  readonly tail?: string;
  readonly type?: readonly string[];
}

const PAGE = 200;

export function addLogs(program: Command): void {
  const command = addAddressOptions(addCommonOptions(program.command("logs")))
    .description("show an agent's log; -o json writes one event a line")
    .argument("<agent>", AGENT_ARGUMENT)
    .option("-f, --follow", "go on with what happens, until the agent has ended")
    .option("--after <cursor>", "only what came after: uid:seq, or seq; resumes where another logs was left")
    .option("--run <n>", "only this run")
    .option("--tail <n>", "only the last so many events of those")
    .addOption(
      new Option("--type <type>", "only such events: message, tool_call; may be repeated").argParser(collect),
    );
  act<LogsOptions, [string]>(command, logs);
}

async function logs(cli: Cli, options: LogsOptions, path: string): Promise<void> {
  const server = cli.server();
  const { status } = await server.agents.getAgentStatus({ agentId: agentIdOf(path, options) });
  const agentId = status?.agentId;
  if (agentId === undefined) throw new Error("the server answered without an agent");
  const wanted = filterOf(options);
  const print = printer(cli);
  const after = cursorOf(options, agentId);
  const { events, lastSeq } = await read(cli, agentId, after, wanted);
  const tail = options.tail === undefined ? events.length : wholeNumber(options.tail, "--tail");
  for (const event of tail === 0 ? [] : events.slice(-tail)) print(event);
  if (!options.follow) return;
  let seq = lastSeq > after ? lastSeq : after;
  await leavable(
    async (signal) => {
      const onLost = (lost: boolean) => void (lost && cli.terminal.note("connection lost; trying again …"));
      for await (const { update } of watch(server, agentId, {
        after: { uid: agentId.uid, seq },
        signal,
        onLost,
      })) {
        if (update.case !== "event") continue;
        seq = update.value.seq;
        if (wanted.fits(update.value)) print(update.value);
      }
    },
    () => ({
      message: `left the log of ${path}; the agent goes on`,
      hint: `go on reading with retinue logs ${path} -f --after ${agentId.uid}:${seq}`,
    }),
  );
}

interface Filter {
  readonly types: EventType[];
  readonly runId: bigint;
  fits(event: Event): boolean;
}

function filterOf({ type = [], run }: LogsOptions): Filter {
  const types = type.map((name): EventType => {
    const value = EventType[name.toUpperCase() as keyof typeof EventType];
    if (!value) {
      const known = Object.keys(EventType).filter((key) => /^[A-Z]/.test(key) && key !== "UNSPECIFIED");
      throw usageError(`--type ${name}: must be one of ${known.join(", ").toLowerCase()}`);
    }
    return value;
  });
  const runId = run === undefined ? 0n : BigInt(wholeNumber(run, "--run"));
  return {
    types,
    runId,
    fits: (event) =>
      (types.length === 0 || types.includes(event.type)) && (runId === 0n || event.runId === runId),
  };
}

function cursorOf({ after }: LogsOptions, { uid }: AgentId): bigint {
  if (after === undefined) return 0n;
  if (/^\d+$/.test(after)) return BigInt(after);
  const cursor = parseCursor(after);
  // Another incarnation's place means nothing in this log: it is read from its start.
  return cursor.uid === uid ? cursor.seq : 0n;
}

async function read(cli: Cli, agentId: AgentId, after: bigint, { types, runId }: Filter) {
  const events: Event[] = [];
  let afterSeq = after;
  for (;;) {
    const page = await cli.server().timeline.listEvents({ agentId, afterSeq, pageSize: PAGE, types, runId });
    events.push(...page.events);
    afterSeq = page.events.at(-1)?.seq ?? afterSeq;
    if (!page.hasMore) return { events, lastSeq: page.lastSeq };
  }
}

function printer({ format, terminal }: Cli): (event: Event) => void {
  if (format === "table") {
    return (event) => {
      for (const line of eventLines(event, terminal.paint)) terminal.print(line);
    };
  }
  return (event) => terminal.print(JSON.stringify(jsonOf(EventSchema, event)));
}
