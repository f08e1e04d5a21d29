import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Command, Option } from "commander";
import type { TaskSchema } from "../../gen/retinue/v1/task_pb.js";
import { collect, readText, splitPair } from "./input.js";

/** What spawn and send have in common: settings that stay, and tasks. */
export interface SettingsOptions {
  readonly persona?: string;
  readonly model?: string;
  readonly reasoningEffort?: string;
  readonly serviceTier?: string;
  readonly fastMode?: boolean;
  readonly outputSchema?: string;
  readonly task?: readonly string[];
}

export function addSettingsOptions(command: Command): Command {
  return command
    .option("-p, --persona <name>", "who the agent is")
    .option("-m, --model <name>", "model, which decides the backend")
    .option("--reasoning-effort <effort>", "none, low, medium, high, xhigh or max, as the backend has it")
    .option("--service-tier <tier>", "standard, fast or flex; backend B only")
    .option("--fast-mode", "ask the agent program for its fast mode")
    .option("--no-fast-mode", "do not")
    .option("--output-schema <file>", "JSON Schema of the structured result")
    .addOption(
      new Option("-t, --task <task>", "checklist item, SUBJECT or ID=SUBJECT; may be repeated").argParser(
        collect,
      ),
    );
}

/** The fields of a request that these options mean. */
export function settingsOf(options: SettingsOptions) {
  return {
    agent: options.persona ?? "",
    model: options.model ?? "",
    reasoningEffort: options.reasoningEffort ?? "",
    serviceTier: options.serviceTier ?? "",
    ...(options.fastMode === undefined ? {} : { fastMode: options.fastMode }),
    outputSchema: options.outputSchema === undefined ? "" : readText(options.outputSchema),
    tasks: (options.task ?? []).map(taskOf),
  };
}

function taskOf(text: string): MessageInitShape<typeof TaskSchema> {
  const [id, subject] = splitPair(text);
  // A subject may hold a `=` of its own; an ID holds no blank.
  return /\s/.test(id) ? { subject: text } : { id, subject };
}
