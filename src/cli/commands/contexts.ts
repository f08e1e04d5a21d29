import type { Command } from "commander";
import { act, addCommonOptions, type Cli } from "../cli.js";
import { type Contexts, readContexts, writeContexts } from "../contexts.js";
import { CliError, EXIT } from "../exit.js";
import { type Column, tableLines } from "../table.js";

const COLUMNS: readonly Column[] = [{ title: "" }, { title: "NAME" }, { title: "SERVER" }];

export function addContexts(program: Command): void {
  const contexts = program.command("contexts").description("servers that you are logged in to");

  act(
    addCommonOptions(contexts.command("ls", { isDefault: true })).description(
      "list them (what `retinue contexts` does)",
    ),
    (cli) => {
      const known = readContexts(cli.environment);
      const rows = Object.entries(known.contexts).map(([name, { url }]) => ({
        name,
        url,
        current: name === known.current,
      }));
      cli.showJson(
        () => rows,
        () => {
          const { paint, live, columns } = cli.terminal;
          if (rows.length === 0) return [paint("dim", "no contexts: retinue login URL makes one")];
          const cells = rows.map(({ name, url, current }) => [
            { text: current ? "*" : "" },
            { text: name },
            { text: url },
          ]);
          return tableLines(COLUMNS, cells, paint, live ? columns() : Number.POSITIVE_INFINITY);
        },
      );
      const { url, key, context } = cli.environment;
      if (url ?? key ?? context)
        cli.terminal.note("RETINUE_URL, RETINUE_KEY or RETINUE_CONTEXT is set and wins over the current one");
    },
  );

  const use = addCommonOptions(contexts.command("use"))
    .description("make one the current one")
    .argument("<name>", "its name");
  act<object, [string]>(use, (cli, _options, name) => {
    const known = knownWith(cli, name);
    writeContexts(cli.environment, { ...known, current: name });
    cli.showJson(
      () => ({ current: name }),
      () => [`using ${name}, ${known.contexts[name]?.url}`],
    );
  });

  const remove = addCommonOptions(contexts.command("rm"))
    .description("forget one and its key")
    .argument("<name>", "its name");
  act<object, [string]>(remove, (cli, _options, name) => {
    const { current, contexts } = knownWith(cli, name);
    const rest = Object.fromEntries(Object.entries(contexts).filter(([other]) => other !== name));
    writeContexts(cli.environment, { current: current === name ? undefined : current, contexts: rest });
    cli.showJson(
      () => ({ removed: name }),
      () => [`forgot ${name}`],
    );
  });
}

function knownWith(cli: Cli, name: string): Contexts {
  const known = readContexts(cli.environment);
  if (Object.hasOwn(known.contexts, name)) return known;
  throw new CliError(`there is no context ${name}`, EXIT.notFound, "retinue contexts lists them");
}
