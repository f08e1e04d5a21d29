import type { Backend, SettingSource } from "../../../gen/retinue/v1/settings_pb.js";
import { effortViolation, tierViolation } from "../backends/index.js";
import { type Fault, invalidField } from "../fault.js";
import { quoted } from "../name.js";
import type { Limits } from "./limits.js";
import {
  NO_SETTINGS,
  type PersonaPin,
  type RequestedSettings,
  type SettingFields,
  type SettingsState,
  settingValues,
} from "./settings.js";
import { type PersonaTask, type PersonaTaskInput, personaTask } from "./task.js";

/** Which backend runs a model; undefined for a name that no document and no rule knows. */
export type BackendOf = (model: string) => Backend | undefined;

/** The part of a catalog document that sets settings. */
export interface DocumentSettings {
  readonly model: string;
  readonly reasoningEffort: string;
  readonly serviceTier: string;
  readonly fastMode?: boolean | undefined;
}

/** A persona document, found by name. */
export interface PersonaDocument {
  readonly name: string;
  readonly generation: number;
  readonly settings?: DocumentSettings | undefined;
  readonly outputSchema: string;
  readonly tasks: readonly PersonaTaskInput[];
}

export interface SpawnSettings {
  readonly explicit: SettingFields;
  readonly persona: PersonaDocument;
  /** SPAWN when the request names it, WORKSPACE or DEFAULT otherwise. */
  readonly personaSource: SettingSource;
  readonly workspace: DocumentSettings | undefined;
  /** What the parent runs with; undefined for a root. */
  readonly parent: DocumentSettings | undefined;
  readonly defaultModel: string;
}

/** What the rules ask about a request's settings, and others know. */
export interface SettingsKnowledge {
  readonly backendOf: BackendOf;
  /** What is wrong with the request's output schema; undefined: it compiles, or there is none. */
  readonly schemaViolation: string | undefined;
}

/** Settles the backend for life and checks what the request says against it. */
export function spawnSettings(input: SpawnSettings, known: SettingsKnowledge, limits: Limits): SettingsState {
  const { backendOf } = known;
  const personaModel = input.persona.settings?.model ?? "";
  const candidates = [
    { field: "model", model: input.explicit.model },
    { field: "agent", model: personaModel },
    { field: "agentId.workspace", model: input.workspace?.model ?? "" },
    { field: "model", model: input.parent?.model ?? "" },
    { field: "model", model: input.defaultModel },
  ];
  const chosen = candidates.find(({ model }) => model !== "") ?? { field: "model", model: "" };
  const backend = backendOf(chosen.model);
  if (backend === undefined) throw unknownModel(chosen.field, chosen.model);
  checkExplicit(input.explicit, backend, known, limits);
  const state = {
    backend,
    explicit: input.explicit,
    explicitSources: {},
    persona: pinPersona(input.persona, backend, backendOf),
    personaSource: input.personaSource,
    workspace: fitting(input.workspace, "", backend, backendOf),
    inherited: input.parent && fitting(input.parent, "", backend, backendOf),
    defaults: fitting({ ...NO_SETTINGS, model: input.defaultModel }, "", backend, backendOf),
  };
  return { ...state, values: settingValues(state) };
}

/** Checks a message's settings against the agent's backend, and pins its persona. */
export function followUpSettings(
  state: SettingsState,
  fields: SettingFields,
  persona: PersonaDocument | undefined,
  known: SettingsKnowledge,
  limits: Limits,
): RequestedSettings {
  const { backendOf } = known;
  if (fields.model !== "") requireBackend("model", fields.model, state.backend, backendOf);
  checkExplicit(fields, state.backend, known, limits);
  if (persona === undefined) return { fields, persona: undefined };
  // An explicit model, of this message or an earlier one, overrides the persona's: then that one is never used.
  const overridden = fields.model !== "" || state.explicit.model !== "";
  const model = persona.settings?.model ?? "";
  if (model !== "" && !overridden) requireBackend("agent", model, state.backend, backendOf);
  return { fields, persona: pinPersona(persona, state.backend, backendOf) };
}

function pinPersona(document: PersonaDocument, backend: Backend, backendOf: BackendOf): PersonaPin {
  const tasks: PersonaTask[] = document.tasks.map(personaTask);
  const layer = fitting(document.settings, document.outputSchema, backend, backendOf);
  return { name: document.name, generation: document.generation, layer, tasks };
}

/** What of a document the backend knows. Only what a caller writes himself is refused. */
function fitting(
  settings: DocumentSettings | undefined,
  outputSchema: string,
  backend: Backend,
  backendOf: BackendOf,
): SettingFields {
  if (settings === undefined) return { ...NO_SETTINGS, outputSchema };
  const { model, reasoningEffort, serviceTier, fastMode } = settings;
  return {
    model: model !== "" && backendOf(model) === backend ? model : "",
    reasoningEffort: effortViolation(backend, reasoningEffort) === undefined ? reasoningEffort : "",
    serviceTier: tierViolation(backend, serviceTier) === undefined ? serviceTier : "",
    fastMode,
    outputSchema,
  };
}

function checkExplicit(
  fields: SettingFields,
  backend: Backend,
  { schemaViolation }: SettingsKnowledge,
  limits: Limits,
): void {
  const effort = effortViolation(backend, fields.reasoningEffort);
  if (effort !== undefined) throw invalidField("reasoningEffort", effort, "EFFORT_INVALID");
  const tier = tierViolation(backend, fields.serviceTier);
  if (tier !== undefined) throw invalidField("serviceTier", tier, "TIER_INVALID");
  if (Buffer.byteLength(fields.outputSchema) > limits.schemaBytes) {
    throw invalidField("outputSchema", `longer than ${limits.schemaBytes} bytes`, "FIELD_TOO_LONG");
  }
  if (schemaViolation !== undefined) throw invalidField("outputSchema", schemaViolation, "SCHEMA_INVALID");
}

function requireBackend(field: string, model: string, backend: Backend, backendOf: BackendOf): void {
  const other = backendOf(model);
  if (other === undefined) throw unknownModel(field, model);
  if (other === backend) return;
  throw invalidField(
    field,
    `the model ${quoted(model)} runs on another backend than the agent's, which cannot change`,
    "CROSS_BACKEND",
  );
}

function unknownModel(field: string, model: string): Fault {
  return invalidField(field, `the model ${quoted(model)} is not known`, "MODEL_UNKNOWN");
}
