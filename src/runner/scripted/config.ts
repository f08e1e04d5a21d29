import type { SessionConfigOption } from "@agentclientprotocol/sdk/unstable";
import { RequestError } from "@agentclientprotocol/sdk/unstable";

const VALUES: Readonly<
  Record<string, { readonly name: string; readonly category?: string; readonly values: readonly string[] }>
> = {
  model: { name: "Model", category: "model", values: ["script-a", "script-b"] },
  effort: {
    name: "Reasoning effort",
    category: "thought_level",
    values: ["default", "none", "low", "medium", "high", "xhigh", "max"],
  },
  service_tier: { name: "Service tier", values: ["default", "standard", "fast", "flex"] },
  fast: { name: "Fast mode", values: ["off", "on"] },
};

/** The options of a session, with what was chosen. They change nothing but what is told here. */
export function configOptions(chosen: Readonly<Record<string, string>>): SessionConfigOption[] {
  return Object.entries(VALUES).map(([id, { name, category, values }]) => {
    const currentValue = chosen[id] ?? (values[0] as string);
    // The catalog may give a script another model's name.
    const offered = values.includes(currentValue) ? values : [...values, currentValue];
    return {
      id,
      name,
      type: "select",
      currentValue,
      options: offered.map((value) => ({ value, name: value })),
      ...(category === undefined ? {} : { category }),
    };
  });
}

/** Refuses what it does not offer; any name will do for a model. */
export function choose(chosen: Record<string, string>, id: string, value: unknown): void {
  const option = Object.hasOwn(VALUES, id) ? VALUES[id] : undefined;
  if (option === undefined) throw RequestError.invalidParams(undefined, `there is no option "${id}"`);
  if (typeof value !== "string" || (id !== "model" && !option.values.includes(value))) {
    throw RequestError.invalidParams(
      undefined,
      `${id} takes ${option.values.join(", ")}, not ${JSON.stringify(value)}`,
    );
  }
  chosen[id] = value;
}
