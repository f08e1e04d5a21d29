import type { Command } from "commander";
import { type ResourceVersion, ResourceVersionSchema } from "../../../gen/retinue/v1/catalog_service_pb.js";
import { addReference, documentOf, namedReferenceOf, type TenantOptions } from "../catalog/reference.js";
import { versionsOf } from "../catalog/versions.js";
import { act, addCommonOptions, type CommonOptions } from "../cli.js";
import { jsonOf } from "../output.js";
import { type Column, tableLines } from "../table.js";
import { localTime } from "../time.js";

const COLUMNS: readonly Column[] = [
  { title: "GENERATION", right: true },
  { title: "TIME" },
  { title: "BY" },
  { title: "WHAT" },
  { title: "WHY" },
];

export function addHistory(program: Command): void {
  const command = addReference(addCommonOptions(program.command("history"))).description(
    "list the versions of a document: who changed it, when and why",
  );
  act<CommonOptions & TenantOptions, [string, string | undefined]>(
    command,
    async (cli, options, kind, name) => {
      const ref = namedReferenceOf(kind, name, options);
      const versions: ResourceVersion[] = [];
      for await (const version of versionsOf(cli.server(), ref)) versions.push(version);
      cli.showJson(
        () =>
          versions.map((version) => {
            const { payload: _, ...record } = jsonOf(ResourceVersionSchema, version) as Record<string, never>;
            return { ...record, document: documentOf(version.payload) };
          }),
        () => {
          const { paint, live, columns } = cli.terminal;
          const rows = versions.map(({ generation, time, actor, deleted, justification }) => [
            { text: String(generation) },
            { text: localTime(time) },
            { text: actor },
            { text: deleted ? "deleted" : "written" },
            { text: justification },
          ]);
          return tableLines(COLUMNS, rows, paint, live ? columns() : Number.POSITIVE_INFINITY);
        },
      );
    },
  );
}
