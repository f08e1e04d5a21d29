import type { Command } from "commander";
import { AgentListEntrySchema } from "../../../gen/retinue/v1/agent_service_pb.js";
import { AGENT_ARGUMENT, agentIdOf, tenantOf } from "../agent-address.js";
import { branches, listTree } from "../agent-tree.js";
import { act, addCommonOptions, type CommonOptions } from "../cli.js";
import { jsonOf } from "../output.js";
import { type Cell, type Column, tableLines } from "../table.js";
import { age } from "../time.js";
import { money, PHASES, tokens } from "../words.js";

interface PsOptions extends CommonOptions {
  readonly all?: boolean;
  readonly account?: string;
  readonly tenant?: string;
}

const COLUMNS: readonly Column[] = [
  { title: "AGENT" },
  { title: "PHASE" },
  { title: "AGE", right: true },
  { title: "COST", right: true },
  { title: "TOKENS", right: true },
  { title: "WANTS" },
];

export function addPs(program: Command): void {
  const command = addCommonOptions(program.command("ps"))
    .description("list agents as a tree")
    .argument("[agent]", `only what is below this agent; ${AGENT_ARGUMENT}`)
    .option("-a, --all", "agents that have ended, too")
    .option("--account <owner>", "whose agents: ACCOUNT, PROVIDER/ACCOUNT, or '*' for everybody's")
    .option("--tenant <tenant>", "organisation: PROVIDER/ORG");
  act<PsOptions, [string | undefined]>(command, async (cli, options, path) => {
    const tenant = options.tenant === undefined ? undefined : tenantOf(options.tenant);
    const parent = path === undefined ? undefined : agentIdOf(path, options.account === "*" ? {} : options);
    const nodes = await listTree(cli.server(), parent, {
      account: options.account ?? "",
      includeTerminal: options.all ?? false,
      ...(tenant === undefined ? {} : { tenant: { ...tenant, $typeName: "retinue.v1.Tenant" } }),
    });
    const rows = branches(nodes);
    const withOwner = options.account !== undefined && path === undefined;
    cli.showJson(
      () => ({ entries: rows.map(({ entry }) => jsonOf(AgentListEntrySchema, entry)) }),
      () => {
        const { paint, live, columns } = cli.terminal;
        if (rows.length === 0)
          return [
            paint("dim", options.all ? "no agents" : "no live agents (--all shows those that have ended)"),
          ];
        const cells = rows.map((row) => cellsOf(row, withOwner));
        return tableLines(COLUMNS, cells, paint, live ? columns() : Number.POSITIVE_INFINITY);
      },
    );
  });
}

function cellsOf({ branch, name, entry }: ReturnType<typeof branches>[number], withOwner: boolean): Cell[] {
  const { word, colour } = PHASES[entry.phase];
  const owner = withOwner && branch === "" ? `${entry.agentId?.account}: ` : "";
  return [
    { text: `${branch}${owner}${name}` },
    { text: word, colour },
    { text: age(entry.createdAt) },
    { text: money(entry.cost) },
    { text: tokens(entry.totalTokens) },
    { text: entry.needsInput, colour: "yellow" },
  ];
}
