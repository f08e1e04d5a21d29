import { type Backend, SettingSource } from "../../../gen/retinue/v1/settings_pb.js";
import type { PersonaTask } from "./task.js";

/** Settings that one place gives; empty (or an undefined fast mode) leaves one to the next place. */
export interface SettingFields {
  readonly model: string;
  readonly reasoningEffort: string;
  readonly serviceTier: string;
  readonly fastMode: boolean | undefined;
  readonly outputSchema: string;
}

export type SettingName = keyof SettingFields;

/**
 * A persona as it was when the message that names it was accepted. What the agent's backend does not know is
 * left out of `layer`, so that applying it later needs no rule and cannot fail.
 */
export interface PersonaPin {
  readonly name: string;
  readonly generation: number;
  readonly layer: SettingFields;
  readonly tasks: readonly PersonaTask[];
}

/** What an accepted message asks for, checked against the backend. */
export interface RequestedSettings {
  readonly fields: SettingFields;
  readonly persona: PersonaPin | undefined;
}

/** The places that settings come from, and what follows from them. */
export interface SettingsState {
  /** Decided by the first model, for the life of the agent. */
  readonly backend: Backend;
  readonly explicit: SettingFields;
  readonly explicitSources: Readonly<Partial<Record<SettingName, SettingSource>>>;
  readonly persona: PersonaPin;
  readonly personaSource: SettingSource;
  /** Pinned at spawn. */
  readonly workspace: SettingFields;
  /** The parent's, at spawn; undefined for a root. */
  readonly inherited: SettingFields | undefined;
  readonly defaults: SettingFields;
  readonly values: SettingValues;
}

/** What a turn runs with. */
export interface SettingValues {
  readonly agent: string;
  readonly backend: Backend;
  readonly model: string;
  readonly reasoningEffort: string;
  readonly serviceTier: string;
  readonly fastMode: boolean;
  readonly outputSchema: string;
  readonly sources: Readonly<Record<string, SettingSource>>;
}

export const NO_SETTINGS: SettingFields = {
  model: "",
  reasoningEffort: "",
  serviceTier: "",
  fastMode: undefined,
  outputSchema: "",
};

export const SETTING_NAMES = Object.keys(NO_SETTINGS) as SettingName[];

function isSet(fields: SettingFields, name: SettingName): boolean {
  return fields[name] !== undefined && fields[name] !== "";
}

/** Explicit field, persona, workspace, parent, builtin: the first that has one. */
export function settingValues(state: Omit<SettingsState, "values">, before?: SettingValues): SettingValues {
  const sources: Record<string, SettingSource> = { agent: state.personaSource };
  const resolve = <N extends SettingName>(name: N): SettingFields[N] => {
    const layers = [
      { fields: state.explicit, source: state.explicitSources[name] ?? SettingSource.SPAWN },
      { fields: state.persona.layer, source: SettingSource.PERSONA },
      { fields: state.workspace, source: SettingSource.WORKSPACE },
      { fields: state.inherited ?? NO_SETTINGS, source: SettingSource.PARENT },
      { fields: state.defaults, source: SettingSource.DEFAULT },
    ];
    const layer = layers.find(({ fields }) => isSet(fields, name));
    sources[name] = layer?.source ?? SettingSource.DEFAULT;
    return layer === undefined ? NO_SETTINGS[name] : layer.fields[name];
  };
  let model = resolve("model");
  // No place has a model of the agent's backend any more: it keeps the one it has.
  if (model === "" && before !== undefined) {
    model = before.model;
    sources.model = before.sources.model ?? SettingSource.DEFAULT;
  }
  sources.backend = before?.sources.backend ?? sources.model ?? SettingSource.DEFAULT;
  return {
    agent: state.persona.name,
    backend: state.backend,
    model,
    reasoningEffort: resolve("reasoningEffort"),
    serviceTier: resolve("serviceTier"),
    fastMode: resolve("fastMode") ?? false,
    outputSchema: resolve("outputSchema"),
    sources,
  };
}

/** A delivered message's settings: sticky, and above every persona that comes later. */
export function applySettings(state: SettingsState, requested: RequestedSettings): SettingsState {
  const named = SETTING_NAMES.filter((name) => isSet(requested.fields, name));
  const persona = requested.persona ?? state.persona;
  const switched = !samePersona(persona, state.persona);
  if (named.length === 0 && !switched) return state;
  const pick = <T>(value: (name: SettingName) => T) =>
    Object.fromEntries(named.map((name) => [name, value(name)])) as Partial<Record<SettingName, T>>;
  const next = {
    ...state,
    explicit: { ...state.explicit, ...pick((name) => requested.fields[name]) } as SettingFields,
    explicitSources: { ...state.explicitSources, ...pick(() => SettingSource.FOLLOW_UP) },
    persona: switched ? persona : state.persona,
    personaSource: switched ? SettingSource.FOLLOW_UP : state.personaSource,
  };
  return { ...next, values: settingValues(next, state.values) };
}

/** Naming the persona that is in force, at the same generation, is no switch: its checklist stays. */
export function samePersona(a: PersonaPin, b: PersonaPin): boolean {
  return a.name === b.name && a.generation === b.generation;
}
