import { create } from "@bufbuild/protobuf";
import { InputFormat, type Persona, PersonaSchema } from "../../../../gen/retinue/v1/catalog_pb.js";
import type { FieldViolation } from "../../fault.js";
import type { Kind } from "../kind.js";
import { bytesViolation, describedViolations, found } from "./field-rules.js";
import { taskViolations } from "./persona-tasks.js";
import { settingViolations } from "./setting-defaults.js";

const INSTRUCTIONS_MAX_BYTES = 200 * 1024;
const SCHEMA_MAX_BYTES = 64 * 1024;

export const persona: Kind<Persona> = {
  name: "persona",
  schema: PersonaSchema,
  inputFormat: InputFormat.MARKDOWN,
  readScope: "catalog:read",
  writeScope: "catalog:write",
  proposable: true,
  builtins: new Map([
    [
      "default",
      create(PersonaSchema, {
        displayName: "Default",
        description: "Adds nothing: the agent program's own instructions and settings.",
      }),
    ],
  ]),
  serverSet: [],
  validate: (document) => [
    ...describedViolations(document),
    ...found(
      bytesViolation("instructions", document.instructions, INSTRUCTIONS_MAX_BYTES),
      outputSchemaViolation(document.outputSchema),
    ),
    ...settingViolations(document.settings),
    ...taskViolations(document.tasks),
  ],
  schemas: ({ outputSchema }) =>
    Buffer.byteLength(outputSchema) > SCHEMA_MAX_BYTES
      ? []
      : [{ field: "outputSchema", schema: outputSchema }],
};

/** What can be told at once. Whether it compiles is found out elsewhere: see `Kind.schemas`. */
function outputSchemaViolation(text: string): FieldViolation | undefined {
  const field = "outputSchema";
  if (text === "") return undefined;
  const large = bytesViolation(field, text, SCHEMA_MAX_BYTES);
  if (large !== undefined) return large;
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    return { field, description: `is not JSON: ${(error as Error).message}` };
  }
  const isObject = schema !== null && typeof schema === "object" && !Array.isArray(schema);
  return isObject ? undefined : { field, description: 'must be a JSON object, {"type": "object", …}' };
}
