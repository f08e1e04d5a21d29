import type { JsonValue } from "@bufbuild/protobuf";
import type { Agent } from "../../domain/agent/agent.js";
import type { Context, Decision, Reported } from "../../domain/agent/decision.js";
import { gaveOutput, outputRefused } from "../../domain/agent/output.js";
import type { Fence } from "../../domain/agent/turn.js";
import type { Schemas } from "../../schemas/schemas.js";

type Rule = (agent: Agent, context: Context) => Decision<Reported>;

/** What a structured result that a program gave by itself leads to: the same as if it had come by the tool. */
export async function nativeOutput(
  schemas: Pick<Schemas, "validate">,
  schema: string,
  fence: Fence,
  output: JsonValue,
): Promise<Rule> {
  const violation = schema === "" ? undefined : await schemas.validate(schema, output);
  return violation === undefined
    ? (agent, context) => gaveOutput(agent, { ...fence, output }, context)
    : (agent, context) => outputRefused(agent, { ...fence, violation }, context);
}
