import type { Command } from "commander";
import {
  ClearFollowUpsResponseSchema,
  RemoveFollowUpResponseSchema,
} from "../../../gen/retinue/v1/agent_service_pb.js";
import { FollowUpSchema } from "../../../gen/retinue/v1/follow_up_pb.js";
import { type AddressOptions, AGENT_ARGUMENT, addAddressOptions, agentIdOf } from "../agent-address.js";
import { act, addCommonOptions, type CommonOptions } from "../cli.js";
import { CliError, EXIT } from "../exit.js";
import { jsonOf } from "../output.js";
import { type Column, tableLines } from "../table.js";
import { age, localTime } from "../time.js";
import { FOLLOW_UPS } from "../words.js";

type Options = CommonOptions & AddressOptions;

const COLUMNS: readonly Column[] = [
  { title: "PLACE", right: true },
  { title: "STATE" },
  { title: "DUE" },
  { title: "AGE", right: true },
  { title: "FROM" },
  { title: "ID" },
  { title: "MESSAGE" },
];

export function addQueue(program: Command): void {
  const queue = program.command("queue").description("messages that wait for an agent");
  const sub = (name: string, isDefault = false) =>
    addAddressOptions(addCommonOptions(queue.command(name, { isDefault })));

  const list = sub("ls", true)
    .description("list them in the order of their delivery (what `retinue queue AGENT` does)")
    .argument("<agent>", AGENT_ARGUMENT);
  act<Options, [string]>(list, async (cli, options, path) => {
    const { status } = await cli.server().agents.getAgentStatus({ agentId: agentIdOf(path, options) });
    const waiting = status?.followUps ?? [];
    cli.showJson(
      () => waiting.map((followUp) => jsonOf(FollowUpSchema, followUp)),
      () => {
        const { paint, live, columns } = cli.terminal;
        if (waiting.length === 0) return [paint("dim", "no message waits")];
        const rows = waiting.map((followUp) => [
          { text: followUp.position === 0 ? "" : String(followUp.position) },
          { text: FOLLOW_UPS[followUp.state] },
          { text: localTime(followUp.deliverAt) },
          { text: age(followUp.queuedAt) },
          { text: followUp.sender },
          { text: followUp.followUpId },
          { text: followUp.description },
        ]);
        return tableLines(COLUMNS, rows, paint, live ? columns() : Number.POSITIVE_INFINITY);
      },
    );
  });

  const remove = sub("rm")
    .description("take one back that has not been delivered")
    .argument("<agent>", AGENT_ARGUMENT)
    .argument("<id>", "ID of the message");
  act<Options, [string, string]>(remove, async (cli, options, path, followUpId) => {
    const answer = await cli
      .server()
      .agents.removeFollowUp({ agentId: agentIdOf(path, options), followUpId });
    if (!answer.removed) {
      throw new CliError(
        `${path} has no undelivered message ${followUpId}`,
        EXIT.notFound,
        `retinue queue ls ${path} lists those that wait; retinue logs ${path} shows what became of others`,
      );
    }
    cli.show(RemoveFollowUpResponseSchema, answer, () => [`removed ${followUpId}`]);
  });

  const clear = sub("clear")
    .description("discard all that are queued; those for later stay")
    .argument("<agent>", AGENT_ARGUMENT);
  act<Options, [string]>(clear, async (cli, options, path) => {
    const answer = await cli.server().agents.clearFollowUps({ agentId: agentIdOf(path, options) });
    cli.show(ClearFollowUpsResponseSchema, answer, () => [`cleared ${answer.cleared}`]);
  });
}
