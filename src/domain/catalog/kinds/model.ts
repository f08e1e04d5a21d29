import { create } from "@bufbuild/protobuf";
import { InputFormat, type Model, ModelSchema } from "../../../../gen/retinue/v1/catalog_pb.js";
import { Backend } from "../../../../gen/retinue/v1/settings_pb.js";
import { rulesOf } from "../../backends/index.js";
import type { FieldViolation } from "../../fault.js";
import { nameViolation } from "../../name.js";
import type { Kind } from "../kind.js";
import { describedViolations, found, violation, wordViolation } from "./field-rules.js";

const MODEL_ID_MAX = 200;

export const model: Kind<Model> = {
  name: "model",
  schema: ModelSchema,
  inputFormat: InputFormat.YAML,
  readScope: "catalog:read",
  writeScope: "catalog:write",
  proposable: true,
  builtins: new Map([
    ["script-a", script(Backend.A, "A")],
    ["script-b", script(Backend.B, "B")],
  ]),
  serverSet: [],
  validate: (document) => [
    ...describedViolations(document),
    ...found(
      violation("backend", backendViolation(document.backend)),
      wordViolation("modelId", document.modelId, MODEL_ID_MAX),
      document.program === "" ? undefined : nameViolation("program", document.program),
      priceViolation("prices.input", document.prices?.input),
      priceViolation("prices.cachedInput", document.prices?.cachedInput),
      priceViolation("prices.output", document.prices?.output),
    ),
  ],
};

function script(backend: Backend, letter: string): Model {
  return create(ModelSchema, {
    displayName: `Embedded script, backend ${letter}`,
    description:
      "Not a model: the embedded agent, a script that follows the @ directives of its messages. For trying " +
      `things out and for tests, under the rules of backend ${letter}; costs nothing.`,
    backend,
  });
}

function backendViolation(backend: Backend): string | undefined {
  return rulesOf(backend) === undefined ? "required: BACKEND_A or BACKEND_B" : undefined;
}

function priceViolation(field: string, price: number | undefined): FieldViolation | undefined {
  if (price === undefined || (Number.isFinite(price) && price >= 0)) return undefined;
  return { field, description: `must be US dollars per million tokens, 0 or more; is ${price}` };
}
