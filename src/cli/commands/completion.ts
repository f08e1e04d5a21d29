import { Argument, type Command } from "commander";
import { pathOf } from "../agent-address.js";
import { branches, listTree } from "../agent-tree.js";
import { KINDS } from "../catalog/kinds.js";
import { act, type Cli } from "../cli.js";
import { candidates } from "../complete.js";
import { readContexts } from "../contexts.js";

/** What to put into a shell's start-up file; the words come from the program itself, so that they never grow stale. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# eval "$(retinue completion bash)" in ~/.bashrc
_retinue() {
  local IFS=$'\\n'
  COMPREPLY=($(retinue __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _retinue retinue`,
  zsh: `# eval "$(retinue completion zsh)" in ~/.zshrc, after compinit
_retinue() {
  local -a found
  found=("\${(@f)$(retinue __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n "$found" ]] && compadd -- $found || _files
}
compdef _retinue retinue`,
  fish: `# retinue completion fish | source in ~/.config/fish/config.fish
complete -c retinue -a '(retinue __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'`,
};

/** Nobody waits longer for a Tab. */
const PATIENCE_MS = 2000;

export function addCompletion(program: Command): void {
  const command = program
    .command("completion")
    .description("print what makes your shell complete commands, options, agents and documents")
    .addArgument(new Argument("<shell>", "which one").choices(Object.keys(SCRIPTS)));
  act<object, [string]>(command, (cli, _options, shell) => cli.terminal.print(SCRIPTS[shell] as string));

  const complete = program.command("__complete", { hidden: true }).argument("[words...]");
  act<object, [string[]]>(complete, async (cli, _options, words) => {
    const found = await candidates(program, words, {
      agents: () => quietly(cli, agentPaths),
      kinds: () => [...KINDS],
      names: (kind) => quietly(cli, (cli, signal) => names(cli, kind, signal)),
      contexts: () => Object.keys(readContexts(cli.environment).contexts),
    });
    for (const word of found) cli.terminal.print(word);
  });
}

async function agentPaths(cli: Cli): Promise<string[]> {
  return branches(await listTree(cli.server(), undefined, {})).map(({ entry }) => pathOf(entry.agentId));
}

async function names(cli: Cli, kind: string, signal: AbortSignal): Promise<string[]> {
  const { entries } = await cli.server().catalog.listResources({ ref: { kind }, pageSize: 200 }, { signal });
  return entries.map(({ name }) => name);
}

/** No server, no key, no time: no words. */
async function quietly(
  cli: Cli,
  look: (cli: Cli, signal: AbortSignal) => Promise<string[]>,
): Promise<string[]> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    return await look(cli, signal);
  } catch {
    return [];
  }
}
