import { type Command, Option } from "commander";
import { tenantOf } from "../agent-address.js";
import { readManifests } from "../catalog/files.js";
import { type Outcome, outcomeOf, printSecret } from "../catalog/put.js";
import { find, payloadOf, type Reference, type TenantOptions } from "../catalog/reference.js";
import type { Manifest } from "../catalog/text.js";
import { act, addCommonOptions, type Cli, type CommonOptions } from "../cli.js";
import { CliError, usageError } from "../exit.js";
import { explain } from "../explain.js";
import { collect, wholeNumber } from "../input.js";

interface ApplyOptions extends CommonOptions, TenantOptions {
  readonly file: readonly string[];
  readonly justification?: string;
  readonly ifGeneration?: string;
}

export function addApply(program: Command): void {
  const command = addCommonOptions(program.command("apply"))
    .description("write documents from files: create what is missing, update what differs")
    .addOption(
      new Option(
        "-f, --file <path>",
        "file, folder with all below it, or - for standard input; may be repeated",
      )
        .argParser(collect)
        .makeOptionMandatory(),
    )
    .option("--justification <text>", "why; kept in history and audit")
    .option("--if-generation <n>", "only if the document is at this generation; 0: only if there is none")
    .option("--tenant <tenant>", "organisation: PROVIDER/ORG");
  act<ApplyOptions>(command, apply);
}

async function apply(cli: Cli, options: ApplyOptions): Promise<void> {
  // All of them are read before the first is written: a slip in the last file leaves nothing half done.
  const manifests = readManifests(options.file);
  if (options.ifGeneration !== undefined && manifests.length > 1) {
    throw usageError(`--if-generation is about one document, and there are ${manifests.length}`);
  }
  const tenant = options.tenant === undefined ? {} : { tenant: tenantOf(options.tenant) };
  const outcomes: Outcome[] = [];
  let failure: CliError | undefined;
  for (const manifest of manifests) {
    try {
      outcomes.push(
        await put(cli, { kind: manifest.kind, name: manifest.name, ...tenant }, manifest, options),
      );
    } catch (error) {
      const { message, hint, exitCode } = explain(error, cli.server().url);
      const told = new CliError(
        `${manifest.source}: ${manifest.kind}/${manifest.name}: ${message}`,
        exitCode,
        hint,
      );
      // The others have nothing to do with it; what could not be written is told last, where it is seen.
      if (failure !== undefined) cli.terminal.note(`retinue: ${failure.message}`);
      failure = told;
    }
  }
  cli.showJson(
    () => outcomes.map(({ record }) => record),
    () => outcomes.map(({ line }) => line),
  );
  if (cli.format === "table") for (const outcome of outcomes) printSecret(cli.terminal, outcome);
  if (failure !== undefined) throw failure;
}

async function put(cli: Cli, ref: Reference, manifest: Manifest, options: ApplyOptions): Promise<Outcome> {
  const server = cli.server();
  const before = await find(server, ref);
  const answer = await server.catalog.putResource({
    ref,
    payload: payloadOf(manifest.document),
    justification: options.justification ?? "",
    ...(options.ifGeneration === undefined
      ? {}
      : { ifGenerationMatch: BigInt(wholeNumber(options.ifGeneration, "--if-generation")) }),
  });
  return outcomeOf(ref, before?.generation, answer);
}
