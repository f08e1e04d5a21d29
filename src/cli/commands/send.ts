import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Command } from "commander";
import { QueueFollowUpResponseSchema } from "../../../gen/retinue/v1/agent_service_pb.js";
import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import { type AddressOptions, AGENT_ARGUMENT, addAddressOptions, agentIdOf } from "../agent-address.js";
import { awaitAgent } from "../await-agent.js";
import { act, addCommonOptions, type CommonOptions } from "../cli.js";
import { usageError } from "../exit.js";
import { textOf } from "../input.js";
import { addSettingsOptions, type SettingsOptions, settingsOf } from "../settings-options.js";
import { momentOf, span } from "../time.js";
import { FOLLOW_UPS } from "../words.js";

interface SendOptions extends CommonOptions, AddressOptions, SettingsOptions {
  readonly file?: string;
  readonly preempt?: boolean;
  readonly at?: string;
  readonly in?: string;
  readonly id?: string;
  readonly wait?: boolean;
}

export function addSend(program: Command): void {
  const command = addAddressOptions(addCommonOptions(program.command("send")))
    .description("send an agent a message: queued, now or for later")
    .argument("<agent>", AGENT_ARGUMENT)
    .argument("[message...]", "the message, in words; - reads it from standard input")
    .option("-f, --file <file>", "read the message from a file")
    .option("--preempt", "discard what is queued and interrupt the turn, so that this comes next")
    .option("--at <time>", "deliver it then: 2026-11-30T09:00:00Z, 09:00; at most 30 days ahead")
    .option("--in <duration>", "deliver it in: 30m, 2h")
    .option("--id <id>", "your ID for it; the same message again is sent once")
    .option("--wait", "wait for the end of the turn that carries it");
  act<SendOptions, [string, string[]]>(addSettingsOptions(command), async (cli, options, path, words) => {
    const deliverAt = momentOf(options.at, options.in, ["--at", "--in"]);
    if (options.preempt && deliverAt) throw usageError("--preempt means now; it excludes --at and --in");
    const agentId = agentIdOf(path, options);
    const receipt = await cli.server().agents.queueFollowUp({
      agentId,
      description: textOf(words, options.file),
      ...settingsOf(options),
      followUpId: options.id ?? "",
      preempt: options.preempt ?? false,
      ...(deliverAt === undefined ? {} : { deliverAt: timestampFromDate(deliverAt) }),
    });
    const lines = () => {
      const { state, position, followUpId, clearedIds, interruptedRunId } = receipt;
      const place = state === FollowUpState.QUEUED ? `, place ${position}` : "";
      const due =
        state === FollowUpState.DEFERRED && deliverAt
          ? `, due in ${span(deliverAt.getTime() - Date.now())}`
          : "";
      return [
        `${FOLLOW_UPS[state]}${place}${due}  ${cli.terminal.paint("dim", followUpId)}`,
        ...(clearedIds.length > 0 ? [`cleared ${clearedIds.length} queued: ${clearedIds.join(", ")}`] : []),
        ...(interruptedRunId > 0n ? [`interrupted run ${interruptedRunId}`] : []),
      ];
    };
    if (!options.wait) return cli.show(QueueFollowUpResponseSchema, receipt, lines);
    for (const line of lines()) cli.terminal.note(line);
    return awaitAgent(cli, { agentId, followUpId: receipt.followUpId });
  });
}
