import type { Limits } from "../../domain/agent/limits.js";
import type { Schemas } from "../../schemas/schemas.js";

/**
 * What is wrong with the output schema of a request; undefined: nothing, or there is none. One that is too long is not
 * looked at: the rules refuse it by its length.
 */
export async function schemaViolationOf(
  { schemas, limits }: { readonly schemas: Pick<Schemas, "check">; readonly limits: Limits },
  schema: string,
): Promise<string | undefined> {
  if (schema === "" || Buffer.byteLength(schema) > limits.schemaBytes) return undefined;
  return schemas.check(schema);
}
