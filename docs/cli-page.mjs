// Writes docs/cli.md from the definitions that the program itself parses by; `--check` only says whether it is up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { Command } from "commander";
import { EXIT, EXIT_MEANINGS } from "../dist/src/cli/exit.js";
import { addClientCommands } from "../dist/src/cli/index.js";

const PAGE = new URL("cli.md", import.meta.url);
const INTRODUCTION = new URL("cli-introduction.md", import.meta.url);
/** Told once, in the introduction. */
const COMMON = ["--context", "--output"];

const program = new Command("retinue");
addClientCommands(program);

const text = `${[
  "<!-- Written by `npm run docs`; change docs/cli-introduction.md or the commands in src/cli instead. -->",
  readFileSync(INTRODUCTION, "utf8").trim(),
  "## Exit codes",
  table(
    ["code", "meaning"],
    Object.entries(EXIT).map(([name, code]) => [String(code), EXIT_MEANINGS[name]]),
  ),
  ...groups().flatMap(([heading, commands]) => [
    `## ${heading.replace(/:$/, "")}`,
    ...commands.flatMap((command) => sections(command, "retinue")),
  ]),
].join("\n\n")}\n`;

if (!process.argv.includes("--check")) writeFileSync(PAGE, text);
else if (readFileSync(PAGE, "utf8") !== text) {
  console.error("docs/cli.md is not what the commands say: run npm run docs");
  process.exit(1);
}

function groups() {
  const found = new Map();
  for (const command of program.commands.filter((one) => !one.name().startsWith("__"))) {
    const heading = command.helpGroup() || "Commands:";
    found.set(heading, [...(found.get(heading) ?? []), command]);
  }
  return [...found];
}

function sections(command, parent) {
  const name = `${parent} ${command.name()}`;
  if (command.commands.length > 0) return command.commands.flatMap((sub) => sections(sub, name));
  const options = command.options.filter(({ long }) => !COMMON.includes(long));
  const usage = [
    name,
    ...command.registeredArguments.map(argumentText),
    ...(options.length > 0 ? ["[options]"] : []),
  ];
  const rows = [
    ...command.registeredArguments.map((argument) => [
      `\`${argumentText(argument)}\``,
      sayWithChoices(argument),
    ]),
    ...options.map((option) => [`\`${option.flags}\``, sayWithChoices(option)]),
  ];
  return [
    `### \`${usage.join(" ")}\``,
    `${sentence(command.description())}`,
    ...(rows.length > 0 ? [table(["", ""], rows)] : []),
  ];
}

function argumentText(argument) {
  const name = argument.name() + (argument.variadic ? "..." : "");
  return argument.required ? `<${name}>` : `[${name}]`;
}

function sayWithChoices({ description, argChoices }) {
  return argChoices ? `${description}: ${argChoices.join(", ")}` : description;
}

function sentence(words) {
  return `${words[0].toUpperCase()}${words.slice(1)}.`;
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}
