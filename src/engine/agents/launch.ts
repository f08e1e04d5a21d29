import type { ModelPrices } from "../../../gen/retinue/v1/catalog_pb.js";
import type { Agent } from "../../domain/agent/agent.js";
import { failedPrecondition } from "../../domain/fault.js";
import type { Programs } from "../../runner/programs.js";
import type { AgentProgram, SessionOpening, TurnSettings } from "../../runner/runner.js";
import { fatal, RunnerError } from "../../runner/runner-error.js";
import type { Documents } from "./documents.js";
import { instructionsOf } from "./instructions.js";

/** What an agent's turn is started with: its settings and the documents that they name, as they are now. */
export interface Launch {
  readonly program: AgentProgram;
  /** The model by the name that its backend knows. */
  readonly settings: TurnSettings;
  readonly opening: SessionOpening;
  /** For a program that does not tell what it costs. */
  readonly prices: ModelPrices | undefined;
  /** What the program may do without asking. */
  readonly allow: readonly string[];
  /** A process serves launches of the same identity; for another one it has to be started anew. */
  readonly identity: string;
}

export interface Launches {
  /** Errors: `RunnerError`, fatal, where the model or its program is not there any more. */
  of(agent: Agent): Promise<Launch>;
  /** Throws FAILED_PRECONDITION for a model whose program is not there; asked before anything is committed. */
  checked(tenant: string, models: readonly string[]): Promise<(model: string) => void>;
}

export function createLaunches(documents: Documents, programs: Programs): Launches {
  return {
    async of(agent) {
      const { tenant, workspace } = agent.key;
      const { model, reasoningEffort, serviceTier, fastMode, outputSchema } = agent.settings.values;
      const resolved = await documents.model(tenant, model);
      const program = resolved && programs.find(resolved);
      if (resolved === undefined || program === undefined) {
        const message = `no agent program runs the model ${model} any more: its document or the configuration changed`;
        throw new RunnerError(fatal("agent_not_installed", message));
      }
      const { name, generation } = agent.settings.persona;
      const instructions = instructionsOf(agent, await documents.instructions(tenant, name, generation));
      const opening = { instructions, outputSchema };
      return {
        program,
        settings: { model: resolved.modelId, reasoningEffort, serviceTier, fastMode },
        opening,
        prices: resolved.prices,
        allow: (await documents.workspace(tenant, workspace))?.permissions?.allow ?? [],
        identity: identityOf(program, opening),
      };
    },

    async checked(tenant, models) {
      const problems = new Map<string, string | undefined>();
      for (const name of models) {
        const resolved = name === "" ? undefined : await documents.model(tenant, name);
        problems.set(name, resolved && (await programs.problem(resolved)));
      }
      return (model) => {
        const problem = problems.get(model);
        if (problem === undefined) return;
        throw failedPrecondition("AGENT_NOT_INSTALLED", model, `model ${model}: ${problem}`);
      };
    },
  };
}

/** What a process was born with and cannot be told later. */
function identityOf(program: AgentProgram, { instructions, outputSchema }: SessionOpening): string {
  const { command, args, env, takes } = program;
  const told = [takes.instructions ? instructions : "", takes.outputSchema ? outputSchema : ""];
  return JSON.stringify([command, args, env, told]);
}
