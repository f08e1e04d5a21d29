import type { JsonValue } from "@bufbuild/protobuf";
import type { Agent } from "./agent.js";
import type { Context, Decision, Reported } from "./decision.js";
import type { Fence, HeldTurn } from "./turn.js";
import { reported } from "./turn-report.js";

/** Structured output of the run, which has passed the schema in force; the last one counts. */
export function gaveOutput(
  agent: Agent,
  input: Fence & { readonly output: JsonValue },
  context: Context,
): Decision<Reported> {
  return reported(agent, input, context, () => ({ output: input.output }));
}

/** An output that did not fit: kept is only why, for the repair that asks for it again, or for the caller. */
export function outputRefused(
  agent: Agent,
  input: Fence & { readonly violation: string },
  context: Context,
): Decision<Reported> {
  return reported(agent, input, context, () => ({ outputRefusal: input.violation }));
}

/**
 * What is wrong with the result as it stands; undefined: nothing. A run that carried only platform messages may leave
 * it at the output of the run before, which was valid.
 */
export function missingOutput(agent: Agent, turn: HeldTurn): string | undefined {
  if (agent.settings.values.outputSchema === "") return undefined;
  if (turn.output !== undefined || agent.structuredOutput !== undefined) return undefined;
  return turn.outputRefusal ?? "no structured output was given";
}
