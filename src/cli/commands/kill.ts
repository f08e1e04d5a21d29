import type { Command } from "commander";
import { KillAgentResponseSchema } from "../../../gen/retinue/v1/agent_service_pb.js";
import { type AddressOptions, AGENT_ARGUMENT, addAddressOptions, agentIdOf } from "../agent-address.js";
import { branches, listTree } from "../agent-tree.js";
import { act, addCommonOptions, type CommonOptions } from "../cli.js";
import { confirm } from "../prompt.js";

interface KillOptions extends CommonOptions, AddressOptions {
  readonly yes?: boolean;
}

export function addKill(program: Command): void {
  const command = addAddressOptions(addCommonOptions(program.command("kill")))
    .description("end an agent and every agent below it")
    .argument("<agent>", AGENT_ARGUMENT)
    .option("-y, --yes", "do not ask");
  act<KillOptions, [string]>(command, async (cli, options, path) => {
    const server = cli.server();
    const { status } = await server.agents.getAgentStatus({ agentId: agentIdOf(path, options) });
    const agentId = status?.agentId;
    if (agentId === undefined) throw new Error("the server answered without an agent");
    const below = branches(await listTree(server, agentId, {})).length;
    const what = below === 0 ? path : `${path} and ${below} below it`;
    if (!options.yes) await confirm(cli, `kill ${what}?`);
    const answer = await server.agents.killAgent({ agentId });
    cli.show(KillAgentResponseSchema, answer, () => [`killed ${what}`]);
  });
}
