import type { TurnSettings } from "../runner.js";
import { list, record, text } from "./json.js";

/** An option that a program offers for its session. */
export interface ConfigOption {
  readonly id: string;
  readonly category: string;
  readonly type: "select" | "boolean";
  readonly value: string | boolean;
}

/** One change to ask for. */
export interface ConfigChange {
  readonly id: string;
  readonly value: string | boolean;
}

/** In this order: a change of model resets the effort in some programs. */
export const SETTINGS = ["model", "reasoningEffort", "serviceTier", "fastMode"] as const;

/** The ids that programs are known to use, and the protocol's own category where it has one. */
const NAMES: Record<keyof TurnSettings, { readonly ids: readonly string[]; readonly category?: string }> = {
  model: { ids: ["model"], category: "model" },
  reasoningEffort: { ids: ["effort", "reasoning_effort"], category: "thought_level" },
  serviceTier: { ids: ["service_tier", "service-tier"] },
  fastMode: { ids: ["fast", "fast-mode", "fast_mode"] },
};

export function readConfigOptions(options: unknown): ConfigOption[] {
  return list(options).flatMap((value) => {
    const { id, category, type, currentValue } = record(value);
    if (typeof currentValue !== "string" && typeof currentValue !== "boolean") return [];
    const kind = type === "boolean" ? "boolean" : "select";
    return [{ id: text(id), category: text(category), type: kind, value: currentValue }];
  });
}

/** Empty leaves the choice to the program; a fast mode that is off has to be switched off in a process that had it. */
export function isSet(settings: TurnSettings, name: keyof TurnSettings): boolean {
  return settings[name] !== "";
}

/** Programs without tiers of their own know the tier `fast` as their fast mode. */
export function forOptions(settings: TurnSettings, options: readonly ConfigOption[]): TurnSettings {
  const { serviceTier } = settings;
  if (serviceTier === "" || findOption(options, "serviceTier") !== undefined) return settings;
  if (findOption(options, "fastMode") === undefined || serviceTier === "flex") return settings;
  return { ...settings, serviceTier: "", fastMode: settings.fastMode || serviceTier === "fast" };
}

export function findOption(
  options: readonly ConfigOption[],
  name: keyof TurnSettings,
): ConfigOption | undefined {
  const { ids, category } = NAMES[name];
  return (
    options.find((option) => ids.includes(option.id)) ??
    options.find((option) => category !== undefined && option.category === category)
  );
}

/** The change that brings an option to its setting; undefined when it is there already. */
export function changeOf(option: ConfigOption, setting: string | boolean): ConfigChange | undefined {
  const value = typeof setting === "boolean" && option.type === "select" ? (setting ? "on" : "off") : setting;
  return option.value === value ? undefined : { id: option.id, value };
}
