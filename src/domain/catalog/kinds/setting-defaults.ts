import type { SettingDefaults } from "../../../../gen/retinue/v1/catalog_pb.js";
import { BACKENDS, backendOfModelName, effortViolation, tierViolation } from "../../backends/index.js";
import type { FieldViolation } from "../../fault.js";
import { found, violation, wordViolation } from "./field-rules.js";

/**
 * Whether the settings go together. Where the model's name tells no backend (a `model` document may know it),
 * only what no backend at all would take is refused; the rest is decided at spawn, with the document at hand.
 */
export function settingViolations(settings: SettingDefaults | undefined): FieldViolation[] {
  if (settings === undefined) return [];
  const { model, reasoningEffort, serviceTier } = settings;
  const backend = backendOfModelName(model);
  const violations = found(
    wordViolation("settings.model", model, 128),
    violation("settings.reasoningEffort", effortViolation(backend, reasoningEffort)),
    violation("settings.serviceTier", tierViolation(backend, serviceTier)),
  );
  if (violations.length > 0 || BACKENDS.some((rules) => takes(rules, settings))) return violations;
  const description = `no backend has both the tier ${serviceTier} and the effort ${reasoningEffort}`;
  return [{ field: "settings.serviceTier", description }];
}

function takes({ backend }: (typeof BACKENDS)[number], settings: SettingDefaults): boolean {
  const wrong =
    effortViolation(backend, settings.reasoningEffort) ?? tierViolation(backend, settings.serviceTier);
  return wrong === undefined;
}
