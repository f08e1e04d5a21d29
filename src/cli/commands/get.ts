import type { JsonObject } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { InputFormat } from "../../../gen/retinue/v1/catalog_pb.js";
import type { GetResourceResponse } from "../../../gen/retinue/v1/catalog_service_pb.js";
import { written } from "../catalog/kinds.js";
import {
  addReference,
  documentOf,
  type Reference,
  referenceOf,
  type TenantOptions,
} from "../catalog/reference.js";
import { textOf } from "../catalog/text.js";
import { act, addCommonOptions, type Cli, type CommonOptions } from "../cli.js";
import { type Column, tableLines } from "../table.js";
import { clean } from "../text.js";
import { span } from "../time.js";

const PAGE = 200;
const COLUMNS: readonly Column[] = [
  { title: "NAME" },
  { title: "GENERATION", right: true },
  { title: "CHANGED", right: true },
  { title: "BY" },
  { title: "ABOUT" },
];

export function addGet(program: Command): void {
  const command = addReference(addCommonOptions(program.command("get"))).description(
    "list documents of a kind, or show one as you would write it",
  );
  act<CommonOptions & TenantOptions, [string, string | undefined]>(
    command,
    async (cli, options, kind, name) => {
      const ref = referenceOf(kind, name, options);
      return ref.name === "" ? list(cli, ref) : showOne(cli, ref);
    },
  );
}

async function showOne(cli: Cli, ref: Reference): Promise<void> {
  const found = await cli.server().catalog.getResource({ ref });
  const document = documentOf(found.payload);
  cli.showJson(
    () => recordOf(found),
    () => {
      const text = textOf(
        { kind: found.kind, name: found.name, document: written(found.kind, document) },
        found.inputFormat,
      );
      cli.terminal.note(
        cli.terminal.paintNote(
          "dim",
          `generation ${found.generation}${found.generation === 0n ? " (builtin)" : ""}`,
        ),
      );
      return clean(text).trimEnd().split("\n");
    },
  );
}

async function list(cli: Cli, ref: Reference): Promise<void> {
  const found: GetResourceResponse[] = [];
  let pageToken = "";
  do {
    const page = await cli.server().catalog.listResources({ ref, pageSize: PAGE, pageToken });
    found.push(...page.entries);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  cli.showJson(
    () => ({ entries: found.map(recordOf) }),
    () => {
      const { paint, live, columns } = cli.terminal;
      if (found.length === 0) return [paint("dim", `no ${ref.kind}`)];
      return tableLines(COLUMNS, found.map(cellsOf), paint, live ? columns() : Number.POSITIVE_INFINITY);
    },
  );
}

function cellsOf({ name, generation, payload }: GetResourceResponse) {
  const {
    meta,
    displayName = "",
    description = "",
  } = documentOf(payload) as JsonObject & {
    meta?: { updatedAt?: string; updatedBy?: string };
    displayName?: string;
    description?: string;
  };
  const changed = meta?.updatedAt === undefined ? "" : span(Date.now() - Date.parse(meta.updatedAt));
  return [
    { text: name },
    { text: generation === 0n ? "builtin" : String(generation) },
    { text: changed },
    { text: meta?.updatedBy ?? "" },
    { text: [displayName, description].filter(Boolean).join(": ") },
  ];
}

function recordOf({ kind, name, generation, inputFormat, payload }: GetResourceResponse): JsonObject {
  return {
    kind,
    name,
    generation: String(generation),
    inputFormat: `INPUT_FORMAT_${InputFormat[inputFormat]}`,
    document: documentOf(payload),
  };
}
