import type {
  Environment,
  Model,
  ModelPrices,
  Persona,
  PoolConfig,
  VmProfile,
  Workspace,
} from "../../../gen/retinue/v1/catalog_pb.js";
import type { Backend } from "../../../gen/retinue/v1/settings_pb.js";
import type { PersonaDocument } from "../../domain/agent/settings-check.js";
import { backendOfModelName } from "../../domain/backends/index.js";
import type { Document, Kind } from "../../domain/catalog/kind.js";
import { environment } from "../../domain/catalog/kinds/environment.js";
import { model } from "../../domain/catalog/kinds/model.js";
import { persona } from "../../domain/catalog/kinds/persona.js";
import { poolConfig } from "../../domain/catalog/kinds/pool-config.js";
import { vmProfile } from "../../domain/catalog/kinds/vm-profile.js";
import { workspace } from "../../domain/catalog/kinds/workspace.js";
import type { ModelChoice } from "../../runner/programs.js";
import type { Store } from "../../storage/store.js";
import { documentOf } from "../catalog/values.js";

/** The catalog as agents see it: documents by name, builtins included, at one moment. */
export interface Documents {
  workspace(tenant: string, name: string): Promise<Workspace | undefined>;
  workspaces(tenant: string): Promise<{ readonly name: string; readonly default: boolean }[]>;
  environment(tenant: string, name: string): Promise<Environment | undefined>;
  vmProfile(tenant: string, name: string): Promise<VmProfile | undefined>;
  /** The pool of a workspace: its document, or the builtin one where that is gone. */
  poolOf(tenant: string, workspace: string): Promise<{ readonly name: string; readonly config: PoolConfig }>;
  pools(tenant: string): Promise<{ readonly name: string; readonly config: PoolConfig }[]>;
  persona(tenant: string, name: string): Promise<PersonaDocument | undefined>;
  /** The instructions of a persona as they were at a generation. */
  instructions(tenant: string, name: string, generation: number): Promise<string>;
  /** What a model's name stands for; undefined for a name that no document and no rule knows. */
  model(tenant: string, name: string): Promise<ResolvedModel | undefined>;
  /** Knows the backends of these models, and of every name that the builtin rules know. */
  backends(tenant: string, models: readonly string[]): Promise<(model: string) => Backend | undefined>;
}

/** A model as its document says, or as the rules make of its name. */
export interface ResolvedModel extends ModelChoice {
  readonly prices: ModelPrices | undefined;
}

/** Enough for every tenant that will ever be: a spawn without a workspace reads them all. */
const MAX_WORKSPACES = 1000;

export function createDocuments(store: Store): Documents {
  async function find<D extends Document>(kind: Kind<D>, tenant: string, name: string) {
    const stored = await store.resource({ tenant, kind: kind.name, name });
    if (stored && !stored.deleted)
      return { document: documentOf(kind, stored), generation: stored.generation };
    const builtin = kind.builtins.get(name);
    return builtin && { document: builtin, generation: 0 };
  }

  return {
    workspace: async (tenant, name) =>
      (await find(workspace, tenant, name))?.document as Workspace | undefined,

    async workspaces(tenant) {
      const query = { tenant, kind: workspace.name, afterName: "", limit: MAX_WORKSPACES };
      const rows = await store.resources(query);
      return rows.map((row) => ({
        name: row.name,
        default: (documentOf(workspace, row) as Workspace).default,
      }));
    },

    environment: async (tenant, name) =>
      (await find(environment, tenant, name))?.document as Environment | undefined,

    vmProfile: async (tenant, name) =>
      (await find(vmProfile, tenant, name))?.document as VmProfile | undefined,

    async poolOf(tenant, name) {
      const used =
        ((await find(workspace, tenant, name))?.document as Workspace | undefined)?.pool || "default";
      const found = (await find(poolConfig, tenant, used)) ?? (await find(poolConfig, tenant, "default"));
      return { name: used, config: found?.document as PoolConfig };
    },

    async pools(tenant) {
      const query = { tenant, kind: poolConfig.name, afterName: "", limit: MAX_WORKSPACES };
      const stored = await store.resources(query);
      const all = new Map([
        ...poolConfig.builtins,
        ...stored.map((row) => [row.name, documentOf(poolConfig, row) as PoolConfig] as const),
      ]);
      return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, config]) => ({ name, config }));
    },

    async persona(tenant, name) {
      const found = await find(persona, tenant, name);
      if (found === undefined) return undefined;
      const { settings, outputSchema, tasks } = found.document as Persona;
      return { name, generation: found.generation, settings, outputSchema, tasks };
    },

    async instructions(tenant, name, generation) {
      if (generation === 0) return persona.builtins.get(name)?.instructions ?? "";
      const key = { tenant, kind: persona.name, name };
      const [version] = await store.versions({ ...key, beforeGeneration: generation + 1, limit: 1 });
      if (version === undefined || version.generation !== generation) return "";
      return (documentOf(persona, version) as Persona).instructions;
    },

    async model(tenant, name) {
      const found = await find(model, tenant, name);
      const backend = backendOfModelName(name);
      if (found === undefined) {
        return backend === undefined ? undefined : { backend, modelId: name, program: "", prices: undefined };
      }
      const document = found.document as Model;
      const { prices, program } = document;
      return { backend: document.backend, modelId: document.modelId || name, program, prices };
    },

    async backends(tenant, models) {
      const known = new Map<string, Backend>();
      for (const name of models) {
        const found = name === "" ? undefined : await find(model, tenant, name);
        if (found) known.set(name, (found.document as Model).backend);
      }
      return (name) => known.get(name) ?? backendOfModelName(name);
    },
  };
}
