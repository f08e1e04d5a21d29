import type { Command } from "commander";
import { DeleteResourceResponseSchema } from "../../../gen/retinue/v1/catalog_service_pb.js";
import { addReference, namedReferenceOf, type TenantOptions } from "../catalog/reference.js";
import { act, addCommonOptions, type CommonOptions } from "../cli.js";
import { wholeNumber } from "../input.js";
import { confirm } from "../prompt.js";

interface DeleteOptions extends CommonOptions, TenantOptions {
  readonly yes?: boolean;
  readonly justification?: string;
  readonly ifGeneration?: string;
}

export function addDelete(program: Command): void {
  const command = addReference(addCommonOptions(program.command("delete")))
    .description("delete a document; its history stays")
    .option("-y, --yes", "do not ask")
    .option("--justification <text>", "why; kept in history and audit")
    .option("--if-generation <n>", "only if the document is at this generation");
  act<DeleteOptions, [string, string | undefined]>(command, async (cli, options, kind, name) => {
    const ref = namedReferenceOf(kind, name, options);
    const { catalog } = cli.server();
    await catalog.getResource({ ref });
    if (!options.yes) await confirm(cli, `delete ${ref.kind}/${ref.name}?`);
    const answer = await catalog.deleteResource({
      ref,
      justification: options.justification ?? "",
      ...(options.ifGeneration === undefined
        ? {}
        : { ifGenerationMatch: BigInt(wholeNumber(options.ifGeneration, "--if-generation")) }),
    });
    cli.show(DeleteResourceResponseSchema, answer, () => [
      `${ref.kind}/${ref.name} deleted, generation ${answer.generation}`,
    ]);
  });
}
