import type { Command } from "commander";
import { StopTurnMode, StopTurnResponseSchema } from "../../../gen/retinue/v1/agent_service_pb.js";
import { type AddressOptions, AGENT_ARGUMENT, addAddressOptions, agentIdOf } from "../agent-address.js";
import { act, addCommonOptions, type CommonOptions } from "../cli.js";
import { wholeNumber } from "../input.js";

interface StopOptions extends CommonOptions, AddressOptions {
  readonly run?: string;
  readonly kill?: boolean;
}

export function addStop(program: Command): void {
  const command = addAddressOptions(addCommonOptions(program.command("stop")))
    .description("interrupt an agent's turn; the agent lives on")
    .argument("<agent>", AGENT_ARGUMENT)
    .option("--run <n>", "only if this is the current run; the one that is current now otherwise")
    .option("--kill", "at once, with no result recovered");
  act<StopOptions, [string]>(command, async (cli, options, path) => {
    const { agents } = cli.server();
    const agentId = agentIdOf(path, options);
    const runId =
      options.run === undefined
        ? ((await agents.getAgentStatus({ agentId })).status?.runCount ?? 0n)
        : BigInt(wholeNumber(options.run, "--run"));
    const mode = options.kill ? StopTurnMode.KILL : StopTurnMode.INTERRUPT;
    const answer = await agents.stopTurn({ agentId, runId, mode });
    cli.show(StopTurnResponseSchema, answer, () => [
      `${options.kill ? "killed" : "interrupting"} run ${runId} of ${path}`,
      ...(options.kill ? [] : [`  → if it does not stop: retinue stop ${path} --run ${runId} --kill`]),
    ]);
  });
}
