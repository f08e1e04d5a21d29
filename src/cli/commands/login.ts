import type { Command } from "commander";
import { providerName } from "../agent-address.js";
import { act, addCommonOptions, type CommonOptions } from "../cli.js";
import { contextsFile, readContexts, writeContexts } from "../contexts.js";
import { usageError } from "../exit.js";
import { readText } from "../input.js";
import { readSecret } from "../prompt.js";
import { openServer } from "../server.js";
import { checkedUrl, isLoopback } from "../target.js";

interface LoginOptions extends CommonOptions {
  readonly name?: string;
  readonly keyFile?: string;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export function addLogin(program: Command): void {
  const command = addCommonOptions(program.command("login"))
    .description("remember a server and a key, and use them from now on")
    .argument("<url>", "address of the server, https://retinue.example.com")
    .option("--name <name>", "what to call it; its host otherwise")
    .option("--key-file <file>", "file with the key; asked for on a terminal, else read from standard input");
  act<LoginOptions, [string]>(command, async (cli, options, address) => {
    const url = checkedUrl(address);
    const name = options.name ?? new URL(url).host.replace(/[^A-Za-z0-9._-]/g, "-");
    if (!NAME.test(name)) throw usageError(`--name ${name}: letters, digits, '.', '_' and '-', no others`);
    if (url.startsWith("http:") && !isLoopback(url)) {
      cli.terminal.note(`${url} has no TLS: whoever sits between you and it can read your key`);
    }
    const key =
      options.keyFile === undefined
        ? await readSecret(cli, `key for ${url}`)
        : readText(options.keyFile).trim();
    const me = await openServer({ url, key }).identity.whoami({});
    const { contexts } = readContexts(cli.environment);
    writeContexts(cli.environment, { current: name, contexts: { ...contexts, [name]: { url, key } } });
    const who = `${providerName(me.ownerProvider)}/${me.account}`;
    cli.showJson(
      () => ({ context: name, url, account: who }),
      () => [`logged in to ${url} as ${who}; context ${name} is kept in ${contextsFile(cli.environment)}`],
    );
  });
}
