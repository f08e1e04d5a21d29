import type { Command } from "commander";
import type { Usage } from "../../../gen/retinue/v1/agent_pb.js";
import { type UsageEntry, UsageEntrySchema } from "../../../gen/retinue/v1/usage_service_pb.js";
import { type AddressOptions, AGENT_ARGUMENT, addAddressOptions, agentIdOf } from "../agent-address.js";
import { act, addCommonOptions, type CommonOptions } from "../cli.js";
import { jsonOf } from "../output.js";
import { type Cell, type Column, tableLines } from "../table.js";
import { money, tokens } from "../words.js";

type Options = CommonOptions & AddressOptions & { readonly tree?: boolean };

const COLUMNS: readonly Column[] = [
  { title: "AGENT" },
  { title: "RUN", right: true },
  { title: "ATTEMPT", right: true },
  { title: "INPUT", right: true },
  { title: "CACHED", right: true },
  { title: "OUTPUT", right: true },
  { title: "COST", right: true },
  { title: "MODEL" },
];
const PAGE = 200;

export function addUsage(program: Command): void {
  const usage = addAddressOptions(addCommonOptions(program.command("usage")))
    .description("what an agent has used, by run and attempt")
    .argument("<agent>", AGENT_ARGUMENT)
    .option("--tree", "and everything below it");
  act<Options, [string]>(usage, async (cli, options, path) => {
    const entries: UsageEntry[] = [];
    let total: Usage | undefined;
    for (let pageToken: string | undefined = ""; pageToken !== undefined; ) {
      const page = await cli.server().usage.listUsage({
        agentId: agentIdOf(path, options),
        includeDescendants: options.tree ?? false,
        pageSize: PAGE,
        pageToken,
      });
      entries.push(...page.entries);
      total = page.total;
      pageToken = page.nextPageToken || undefined;
    }
    cli.showJson(
      () => entries.map((entry) => jsonOf(UsageEntrySchema, entry)),
      () => {
        const { paint, live, columns } = cli.terminal;
        if (entries.length === 0) return [paint("dim", "nothing used yet")];
        const rows = entries.map((entry) => [
          { text: entry.agentId?.agent.join("/") ?? "" },
          { text: String(entry.runId) },
          { text: String(entry.attempt) },
          ...amounts(entry.usage),
          { text: entry.model },
        ]);
        const sum = [{ text: "total" }, { text: "" }, { text: "" }, ...amounts(total), { text: "" }];
        return tableLines(COLUMNS, [...rows, sum], paint, live ? columns() : Number.POSITIVE_INFINITY);
      },
    );
  });
}

function amounts(usage: Usage | undefined): Cell[] {
  const { inputTokens = 0n, cachedInputTokens = 0n, outputTokens = 0n, cost = 0 } = usage ?? {};
  return [inputTokens, cachedInputTokens, outputTokens]
    .map((count): Cell => ({ text: tokens(count) }))
    .concat({ text: money(cost) });
}
