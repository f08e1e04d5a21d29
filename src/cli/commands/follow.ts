import type { Command } from "commander";
import { type AddressOptions, AGENT_ARGUMENT, addAddressOptions, agentIdOf } from "../agent-address.js";
import { act, addCommonOptions, type CommonOptions } from "../cli.js";
import { followAgent } from "../live/follow.js";

export function addFollow(program: Command): void {
  const command = addAddressOptions(addCommonOptions(program.command("follow")))
    .description("show an agent and all below it live, until it has ended or wants input")
    .argument("<agent>", AGENT_ARGUMENT);
  act<CommonOptions & AddressOptions, [string]>(command, async (cli, options, path) => {
    const { status } = await cli.server().agents.getAgentStatus({ agentId: agentIdOf(path, options) });
    if (status?.agentId === undefined) throw new Error("the server answered without an agent");
    await followAgent(cli, { agentId: status.agentId });
  });
}
