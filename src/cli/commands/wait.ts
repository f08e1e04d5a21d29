import type { Command } from "commander";
import { type AddressOptions, AGENT_ARGUMENT, addAddressOptions, agentIdOf } from "../agent-address.js";
import { awaitAgent } from "../await-agent.js";
import { act, addCommonOptions, type CommonOptions } from "../cli.js";
import { wholeNumber } from "../input.js";
import { parseDuration } from "../time.js";

interface WaitOptions extends CommonOptions, AddressOptions {
  readonly timeout?: string;
  readonly message?: string;
  readonly afterRun?: string;
}

export function addWait(program: Command): void {
  const command = addAddressOptions(addCommonOptions(program.command("wait")))
    .description("wait until an agent has ended or wants input; the exit code says which")
    .argument("<agent>", AGENT_ARGUMENT)
    .option("--timeout <duration>", "give up after so long: 90s, 2h")
    .option("--message <id>", "wait for the end of the turn that carries this message instead")
    .option("--after-run <n>", "ignore rests that were reached by runs up to this one");
  act<WaitOptions, [string]>(command, (cli, options, path) =>
    awaitAgent(cli, {
      agentId: agentIdOf(path, options),
      timeoutMs: options.timeout === undefined ? undefined : parseDuration(options.timeout, "--timeout"),
      followUpId: options.message,
      afterRun: options.afterRun === undefined ? undefined : wholeNumber(options.afterRun, "--after-run"),
    }),
  );
}
