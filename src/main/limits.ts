import { type Command, InvalidArgumentError, Option } from "commander";
import { DEFAULT_LIMITS, type Limits } from "../domain/agent/limits.js";

/** A limit of the agents' rules that can be told on the command line or by a variable. */
export interface LimitOption {
  readonly limit: keyof Limits;
  /** Without the dashes; the variable is `RETINUE_` and the same in capitals. */
  readonly name: string;
  readonly unit: keyof typeof UNITS;
  readonly description: string;
}

export const LIMIT_OPTIONS: readonly LimitOption[] = [
  { limit: "queued", name: "max-queued", unit: "count", description: "messages queued for an agent" },
  { limit: "deferred", name: "max-deferred", unit: "count", description: "messages deferred for an agent" },
  { limit: "tasks", name: "max-tasks", unit: "count", description: "tasks of an agent" },
  { limit: "labels", name: "max-labels", unit: "count", description: "labels of an agent" },
  { limit: "pathLength", name: "max-path-length", unit: "count", description: "elements of an agent's path" },
  {
    limit: "liveChildren",
    name: "max-live-children",
    unit: "count",
    description: "live children of an agent",
  },
  { limit: "liveSubtree", name: "max-live-subtree", unit: "count", description: "live agents of a tree" },
  { limit: "liveAgents", name: "max-live-agents", unit: "count", description: "live agents of a tenant" },
  {
    limit: "descriptionBytes",
    name: "max-description",
    unit: "bytes",
    description: "a description or message",
  },
  { limit: "schemaBytes", name: "max-schema", unit: "bytes", description: "an output schema" },
  {
    limit: "followUpIdLength",
    name: "max-follow-up-id",
    unit: "count",
    description: "characters of a followUpId",
  },
  { limit: "turnMs", name: "turn-timeout", unit: "time", description: "a turn" },
  { limit: "silenceMs", name: "silence-timeout", unit: "time", description: "a turn without a sign of life" },
  {
    limit: "idleProcessMs",
    name: "idle-process",
    unit: "time",
    description: "a process of an agent at rest",
  },
];

const MOST = 1_000_000_000;
const TIMES: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZES: Readonly<Record<string, number>> = { "": 1, KiB: 1024, MiB: 1024 * 1024 };

const UNITS = {
  count: { placeholder: "n", factors: { "": 1 }, allowed: "a whole number from 1, for example 100." },
  bytes: {
    placeholder: "size",
    factors: SIZES,
    allowed: "a size from 1 byte, for example 65536, 256KiB or 1MiB.",
  },
  time: { placeholder: "time", factors: TIMES, allowed: "a time from 1ms, for example 90s, 15m or 2h." },
} as const satisfies Record<string, { factors: Readonly<Record<string, number>>; [more: string]: unknown }>;

export function addLimitOptions(command: Command): Command {
  for (const { limit, name, unit, description } of LIMIT_OPTIONS) {
    const { placeholder } = UNITS[unit];
    command.addOption(
      new Option(`--${name} <${placeholder}>`, `most: ${description}`)
        .env(variableOf(name))
        .argParser((text) => parse(text, unit))
        .default(DEFAULT_LIMITS[limit], limitText(DEFAULT_LIMITS[limit], unit)),
    );
  }
  return command;
}

/** From what commander parsed. */
export function limitsOf(options: Readonly<Record<string, unknown>>): Limits {
  const told = LIMIT_OPTIONS.map(({ limit, name }) => [limit, options[camelCase(name)]]);
  return { ...DEFAULT_LIMITS, ...Object.fromEntries(told) };
}

export function variableOf(name: string): string {
  return `RETINUE_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** As a person would write it: the largest unit in which it is whole. */
export function limitText(value: number, unit: LimitOption["unit"]): string {
  const fitting = Object.entries<number>(UNITS[unit].factors).filter(([, factor]) => value % factor === 0);
  const [name, factor] = fitting.at(-1) as [string, number];
  return `${value / factor}${name}`;
}

function parse(text: string, unit: LimitOption["unit"]): number {
  const { factors, allowed } = UNITS[unit];
  const [, digits = "", name = ""] = /^(\d+)([A-Za-z]*)$/.exec(text) ?? [];
  const value = Number(digits) * ((factors as Readonly<Record<string, number>>)[name] ?? Number.NaN);
  if (digits !== "" && value >= 1 && value <= MOST) return value;
  throw new InvalidArgumentError(`must be ${allowed}`);
}

function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
