import { type Command, Option } from "commander";
import { InputFormat } from "../../../gen/retinue/v1/catalog_pb.js";
import { tenantOf } from "../agent-address.js";
import { readManifests } from "../catalog/files.js";
import { written } from "../catalog/kinds.js";
import { diffLines } from "../catalog/line-diff.js";
import {
  documentOf,
  find,
  namedReferenceOf,
  type Reference,
  type TenantOptions,
} from "../catalog/reference.js";
import { formatOf, type Manifest, textOf } from "../catalog/text.js";
import { versionsOf } from "../catalog/versions.js";
import { act, addCommonOptions, type Cli, type CommonOptions } from "../cli.js";
import { CliError, EXIT, usageError } from "../exit.js";
import { collect, wholeNumber } from "../input.js";
import { clean } from "../text.js";

interface DiffOptions extends CommonOptions, TenantOptions {
  readonly file?: readonly string[];
  readonly from?: string;
  readonly to?: string;
}

interface Difference {
  readonly from: string;
  readonly to: string;
  readonly hunks: ReturnType<typeof diffLines>;
}

export function addDiff(program: Command): void {
  const command = addCommonOptions(program.command("diff"))
    .description("show what apply would change, or what changed between two generations")
    .argument("[kind]", "kind, or KIND/NAME")
    .argument("[name]", "name within the kind")
    .addOption(
      new Option("-f, --file <path>", "compare with these files or folders; - is standard input").argParser(
        collect,
      ),
    )
    .option("--from <generation>", "the older one; the one before --to otherwise")
    .option("--to <generation>", "the newer one; the newest otherwise")
    .option("--tenant <tenant>", "organisation: PROVIDER/ORG");
  act<DiffOptions, [string | undefined, string | undefined]>(command, async (cli, options, kind, name) => {
    if ((options.file === undefined) === (kind === undefined)) {
      throw usageError("compare files (-f PATH) or generations of one document (KIND/NAME)");
    }
    const differences =
      kind === undefined
        ? await withFiles(cli, options)
        : await betweenGenerations(cli, namedReferenceOf(kind, name, options), options);
    const found = differences.filter(({ hunks }) => hunks.length > 0);
    cli.showJson(
      () =>
        found.map(({ from, to, hunks }) => ({
          from,
          to,
          hunks: hunks.map((h) => h.map(({ sign, text }) => sign + text)),
        })),
      () => found.flatMap((difference) => linesOf(difference, cli)),
    );
    if (found.length > 0) cli.exit(EXIT.differs);
  });
}

async function withFiles(cli: Cli, options: DiffOptions): Promise<Difference[]> {
  const server = cli.server();
  const tenant = options.tenant === undefined ? {} : { tenant: tenantOf(options.tenant) };
  return Promise.all(
    readManifests(options.file ?? []).map(async (manifest) => {
      const { kind, name } = manifest;
      const stored = await find(server, { kind, name, ...tenant });
      const format = stored?.inputFormat ?? formatOf(manifest.source);
      const before =
        stored === undefined ? "" : write({ kind, name, document: documentOf(stored.payload) }, format);
      return {
        from: stored === undefined ? "(none)" : `${kind}/${name} generation ${stored.generation}`,
        to: manifest.source,
        hunks: diffLines(before, write(manifest, format)),
      };
    }),
  );
}

async function betweenGenerations(cli: Cli, ref: Reference, options: DiffOptions): Promise<Difference[]> {
  const server = cli.server();
  const { inputFormat } = (await find(server, ref)) ?? { inputFormat: InputFormat.YAML };
  const to = options.to === undefined ? undefined : BigInt(wholeNumber(options.to, "--to"));
  const from = options.from === undefined ? undefined : BigInt(wholeNumber(options.from, "--from"));
  let newer: { generation: bigint; text: string } | undefined;
  let older: { generation: bigint; text: string } | undefined;
  for await (const { generation, payload, deleted } of versionsOf(server, ref)) {
    const text = deleted
      ? ""
      : write({ kind: ref.kind, name: ref.name, document: documentOf(payload) }, inputFormat);
    if (newer === undefined) {
      if (to === undefined || generation === to) newer = { generation, text };
    } else if (from === undefined || generation === from) {
      older = { generation, text };
      break;
    }
  }
  if (newer === undefined || (from !== undefined && older === undefined)) {
    throw new CliError(
      `${ref.kind}/${ref.name} has no such generations, or not in that order`,
      EXIT.notFound,
      `retinue history ${ref.kind}/${ref.name} lists them`,
    );
  }
  const label = ({ generation }: { generation: bigint }) =>
    `${ref.kind}/${ref.name} generation ${generation}`;
  return [
    {
      from: older === undefined ? "(none)" : label(older),
      to: label(newer),
      hunks: diffLines(older?.text ?? "", newer.text),
    },
  ];
}

function write({ kind, name, document }: Omit<Manifest, "source">, format: InputFormat): string {
  return clean(textOf({ kind, name, document: written(kind, document) }, format));
}

function linesOf({ from, to, hunks }: Difference, { terminal: { paint } }: Cli): string[] {
  const colours = { " ": undefined, "-": "red", "+": "green" } as const;
  return [
    paint("bold", `--- ${from}`),
    paint("bold", `+++ ${to}`),
    ...hunks.flatMap((lines, i) => [
      ...(i === 0 ? [] : [paint("cyan", "@@")]),
      ...lines.map(({ sign, text }) => paint(colours[sign], `${sign}${text}`)),
    ]),
  ];
}
