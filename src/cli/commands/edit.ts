import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Command } from "commander";
import { InputFormat } from "../../../gen/retinue/v1/catalog_pb.js";
import { written } from "../catalog/kinds.js";
import { outcomeOf, printSecret } from "../catalog/put.js";
import {
  addReference,
  documentOf,
  namedReferenceOf,
  payloadOf,
  type TenantOptions,
} from "../catalog/reference.js";
import { manifestsOf, textOf } from "../catalog/text.js";
import { act, addCommonOptions, type Cli, type CommonOptions } from "../cli.js";
import { CliError, usageError } from "../exit.js";
import { explain } from "../explain.js";
import { confirm } from "../prompt.js";

interface EditOptions extends CommonOptions, TenantOptions {
  readonly justification?: string;
}

export function addEdit(program: Command): void {
  const command = addReference(addCommonOptions(program.command("edit")))
    .description(
      "change a document in $VISUAL or $EDITOR; written only if nobody else has changed it meanwhile",
    )
    .option("--justification <text>", "why; kept in history and audit");
  act<EditOptions, [string, string | undefined]>(command, async (cli, options, kind, name) => {
    const ref = namedReferenceOf(kind, name, options);
    const { catalog } = cli.server();
    const found = await catalog.getResource({ ref });
    const document = written(ref.kind, documentOf(found.payload));
    const original = textOf({ kind: ref.kind, name: ref.name, document }, found.inputFormat);
    const extension = found.inputFormat === InputFormat.MARKDOWN ? "md" : "yaml";
    const file = join(mkdtempSync(join(tmpdir(), "retinue-edit-")), `${ref.name}.${extension}`);
    writeFileSync(file, original, { mode: 0o600 });

    const write = async () => {
      const [manifest, ...more] = manifestsOf(readFileSync(file, "utf8"), file);
      if (manifest === undefined || more.length > 0) throw usageError("an edit holds exactly one document");
      if (manifest.kind !== ref.kind || manifest.name !== ref.name) {
        throw usageError(
          `an edit keeps kind and name: ${ref.kind}/${ref.name}`,
          "retinue apply -f writes another document",
        );
      }
      return catalog.putResource({
        ref,
        payload: payloadOf(manifest.document),
        justification: options.justification ?? "",
        ifGenerationMatch: found.generation,
      });
    };

    for (;;) {
      openEditor(cli, file);
      if (readFileSync(file, "utf8") === original) {
        rmSync(join(file, ".."), { recursive: true });
        return cli.showJson(
          () => ({ kind: ref.kind, name: ref.name, what: "unchanged", generation: String(found.generation) }),
          () => ["nothing was changed"],
        );
      }
      try {
        const outcome = outcomeOf(ref, found.generation, await write());
        rmSync(join(file, ".."), { recursive: true });
        cli.showJson(
          () => outcome.record,
          () => [outcome.line],
        );
        return cli.format === "table" ? printSecret(cli.terminal, outcome) : undefined;
      } catch (error) {
        await askToMend(cli, error, file);
      }
    }
  });
}

/** What somebody wrote is never lost: the file stays, and a slip can be mended in it. */
async function askToMend(cli: Cli, error: unknown, file: string): Promise<void> {
  const { message, hint, exitCode } = explain(error, cli.server().url);
  const kept = new CliError(
    message,
    exitCode,
    [hint, `your text is kept in ${file}`].filter(Boolean).join("; "),
  );
  const mendable = !(error instanceof ConnectError) || error.code === Code.InvalidArgument;
  if (!mendable || !cli.terminal.interactive) throw kept;
  cli.terminal.note(`${cli.terminal.paintNote("red", "retinue:")} ${message}`);
  try {
    await confirm(cli, "edit it again?");
  } catch {
    throw kept;
  }
}

function openEditor(cli: Cli, file: string): void {
  // By a shell, as everybody does: editors are configured with their flags.
  const { editor } = cli.environment;
  const { status, error } = spawnSync("/bin/sh", ["-c", `${editor} "$1"`, "retinue", file], {
    stdio: "inherit",
  });
  if (error !== undefined || status !== 0) {
    throw usageError(`${editor} did not end well; nothing was written`, "choose an editor with EDITOR");
  }
}
