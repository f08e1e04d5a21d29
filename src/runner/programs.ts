import type { Backend } from "../../gen/retinue/v1/settings_pb.js";
import type { AgentProgram } from "./runner.js";

/** Which program runs a model, as the operator has configured it. */
export interface Programs {
  /** Undefined: the model names a program that is not configured. */
  find(model: ModelChoice): AgentProgram | undefined;
  /** Why the model's program cannot be started, and what to do about it; undefined: it can. */
  problem(model: ModelChoice): Promise<string | undefined>;
}

/** A model, resolved. */
export interface ModelChoice {
  readonly backend: Backend;
  /** What the backend calls it. */
  readonly modelId: string;
  /** Name of a profile; empty: the backend's own. */
  readonly program: string;
}
