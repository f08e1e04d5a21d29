import type { Command, Option } from "commander";

/** Where words come from that the program itself does not know. */
export interface Words {
  agents(): Promise<string[]> | string[];
  kinds(): string[];
  names(kind: string): Promise<string[]> | string[];
  contexts(): string[];
}

/** What can stand where the last of these words is being written; empty: the shell may offer files. */
export async function candidates(program: Command, words: readonly string[], from: Words): Promise<string[]> {
  const current = words.at(-1) ?? "";
  const { command, positionals, pending } = walk(program, words.slice(0, -1));
  const found = await offered(command, positionals, pending, current, from);
  return found.filter((word) => word.startsWith(current));
}

async function offered(
  command: Command,
  positionals: readonly string[],
  pending: Option | undefined,
  current: string,
  from: Words,
): Promise<string[]> {
  if (pending !== undefined)
    return pending.long === "--context" ? from.contexts() : (pending.argChoices ?? []);
  if (current.startsWith("-"))
    return command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : []));
  const below = visible(command).map((sub) => sub.name());
  if (positionals.length === 0 && below.length > 0 && command.registeredArguments.length === 0) {
    return [...below, ...(await offeredByDefault(command, current, from))];
  }
  const argument = command.registeredArguments[positionals.length] ?? lastVariadic(command);
  if (argument === undefined) return [];
  if (argument.argChoices) return argument.argChoices;
  return wordsOf(argument.name(), positionals, current, from);
}

/** `retinue tasks AGENT` is short for `retinue tasks ls AGENT`. */
async function offeredByDefault(command: Command, current: string, from: Words): Promise<string[]> {
  const usual = command.commands.find((sub) => sub.name() === "ls");
  return usual === undefined || command.parent === null ? [] : offered(usual, [], undefined, current, from);
}

async function wordsOf(name: string, positionals: readonly string[], current: string, from: Words) {
  switch (name) {
    case "agent":
      return from.agents();
    case "kind": {
      const [kind = "", rest] = current.split("/", 2);
      if (rest === undefined) return from.kinds();
      return (await from.names(kind)).map((known) => `${kind}/${known}`);
    }
    case "name":
      return from.kinds().includes(positionals[0] ?? "")
        ? from.names(positionals[0] as string)
        : from.contexts();
    default:
      return [];
  }
}

/** The command that these words have come to, its arguments so far, and an option that waits for its value. */
function walk(program: Command, words: readonly string[]) {
  let command = program;
  let positionals: string[] = [];
  let pending: Option | undefined;
  for (const word of words) {
    if (pending !== undefined) {
      pending = undefined;
    } else if (word.startsWith("-")) {
      const option = command.options.find(({ short, long }) => word === short || word === long);
      if (option?.required) pending = option;
    } else {
      const sub = visible(command).find((other) => other.name() === word);
      if (sub !== undefined && positionals.length === 0) command = sub;
      else positionals = [...positionals, word];
    }
  }
  return { command, positionals, pending };
}

function visible(command: Command): Command[] {
  return command.commands.filter((sub) => !sub.name().startsWith("__"));
}

function lastVariadic(command: Command) {
  const last = command.registeredArguments.at(-1);
  return last?.variadic ? last : undefined;
}
