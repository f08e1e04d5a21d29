import type { Backend } from "../../../gen/retinue/v1/settings_pb.js";
import { quoted } from "../name.js";
import { backendA } from "./backend-a.js";
import { backendB } from "./backend-b.js";
import type { BackendRules } from "./rules.js";

export type { BackendRules } from "./rules.js";

/** Every backend; a new one is a file beside this one and a line here. */
export const BACKENDS: readonly BackendRules[] = [backendA, backendB];

/** The rules of a backend; undefined for UNSPECIFIED and for numbers that this build does not know. */
export function rulesOf(backend: Backend): BackendRules | undefined {
  return BACKENDS.find((rules) => rules.backend === backend);
}

/** The backend that a model's name tells by itself; a catalog document of that name is asked first. */
export function backendOfModelName(name: string): Backend | undefined {
  return BACKENDS.find((rules) => rules.ownsModel(name))?.backend;
}

/**
 * What is wrong with a reasoning effort, in one sentence. Empty is always right: it leaves the effort to the
 * agent program. With an undefined backend (no model named yet) the effort must be one of any backend's.
 */
export function effortViolation(backend: Backend | undefined, effort: string): string | undefined {
  return settingViolation(
    backend,
    effort,
    "a reasoning effort",
    "reasoning efforts",
    (rules) => rules.efforts,
  );
}

/** The same for a service tier. */
export function tierViolation(backend: Backend | undefined, tier: string): string | undefined {
  return settingViolation(backend, tier, "a service tier", "service tiers", (rules) => rules.tiers);
}

function settingViolation(
  backend: Backend | undefined,
  value: string,
  one: string,
  many: string,
  allowed: (rules: BackendRules) => readonly string[],
): string | undefined {
  if (value === "") return undefined;
  const candidates = backend === undefined ? BACKENDS : BACKENDS.filter((rules) => rules.backend === backend);
  if (candidates.some((rules) => allowed(rules).includes(value))) return undefined;
  const title = backend === undefined ? "any backend" : (candidates[0]?.title ?? `backend ${backend}`);
  const values = [...new Set(candidates.flatMap(allowed))];
  const elsewhere = BACKENDS.filter((rules) => allowed(rules).includes(value)).map((rules) => rules.title);
  const hint = elsewhere.length === 0 ? "" : ` (it is ${elsewhere.join(" and ")}'s)`;
  if (values.length === 0) return `${title} has no ${many}: leave it empty`;
  return `${quoted(value)} is not ${one} of ${title}${hint}; allowed: ${values.join(", ")}`;
}
