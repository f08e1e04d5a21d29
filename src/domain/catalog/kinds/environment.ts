import { create } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import {
  type Environment,
  EnvironmentSchema,
  InputFormat,
  type SetupCommand,
  type Variable,
} from "../../../../gen/retinue/v1/catalog_pb.js";
import type { FieldViolation } from "../../fault.js";
import { nameViolation, quoted } from "../../name.js";
import type { Kind } from "../kind.js";
import {
  bytesViolation,
  DISPLAY_NAME_MAX,
  describedViolations,
  found,
  lineViolation,
  optionalNameViolation,
  repeatViolations,
  textViolation,
} from "./field-rules.js";
import { namedDocument } from "./named-document.js";

const VARIABLE_NAME_MAX = 128;
/** Linux refuses to start a program with a longer one (128 KiB with the name). */
const VALUE_MAX_BYTES = 64 * 1024;
const RUN_MAX_BYTES = 64 * 1024;
const TIMEOUT_MAX_SECONDS = 3600;

export const environment: Kind<Environment> = {
  name: "environment",
  schema: EnvironmentSchema,
  inputFormat: InputFormat.YAML,
  readScope: "catalog:read",
  writeScope: "catalog:write",
  proposable: true,
  builtins: new Map([
    [
      "default",
      create(EnvironmentSchema, {
        displayName: "Default",
        description: "No variables and no setup commands.",
      }),
    ],
  ]),
  serverSet: [],
  references: ({ variables, vmProfile }) => [
    ...variables.flatMap(({ source }, index) =>
      source.case === "secret" ? namedDocument(`variables[${index}].secret`, "secret", source.value) : [],
    ),
    ...namedDocument("vmProfile", "vm-profile", vmProfile),
  ],
  validate: (document) => [
    ...describedViolations(document),
    ...document.variables.flatMap((variable, index) => variableViolations(variable, `variables[${index}]`)),
    ...repeatViolations(
      document.variables.map((variable) => variable.name),
      (index) => `variables[${index}].name`,
    ),
    ...document.setupCommands.flatMap((command, index) =>
      commandViolations(command, `setupCommands[${index}]`),
    ),
    ...found(optionalNameViolation("vmProfile", document.vmProfile)),
  ],
};

function variableViolations({ name, source }: Variable, field: string): FieldViolation[] {
  const sourceViolations = () => {
    if (source.case === "secret") return found(nameViolation(`${field}.secret`, source.value));
    if (source.case === "value") return found(programText(`${field}.value`, source.value, VALUE_MAX_BYTES));
    return [{ field, description: "set exactly one of value and secret" }];
  };
  return [...found(variableNameViolation(`${field}.name`, name)), ...sourceViolations()];
}

function variableNameViolation(field: string, name: string): FieldViolation | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    const description = `${quoted(name)} is no variable name; use letters, digits and '_', no digit first`;
    return { field, description };
  }
  if (name.startsWith("RETINUE_")) {
    return { field, description: "names beginning with RETINUE_ are the service's own" };
  }
  return textViolation(field, name, VARIABLE_NAME_MAX);
}

function commandViolations(command: SetupCommand, field: string): FieldViolation[] {
  return found(
    lineViolation(`${field}.name`, command.name, DISPLAY_NAME_MAX),
    command.run.trim() === ""
      ? { field: `${field}.run`, description: "required: the command that is given to a shell" }
      : programText(`${field}.run`, command.run, RUN_MAX_BYTES),
    timeoutViolation(`${field}.timeout`, command.timeout),
  );
}

function timeoutViolation(field: string, timeout: Duration | undefined): FieldViolation | undefined {
  if (timeout === undefined) return undefined;
  const seconds = Number(timeout.seconds) + timeout.nanos / 1e9;
  if (seconds > 0 && seconds <= TIMEOUT_MAX_SECONDS) return undefined;
  return {
    field,
    description: 'must be more than "0s" and at most an hour, "3600s"; leave it out for ten minutes',
  };
}

/** A NUL ends arguments and variables of a program, and whatever follows it would be lost. */
function programText(field: string, text: string, maxBytes: number): FieldViolation | undefined {
  if (text.includes("\0")) return { field, description: "must not contain the character U+0000" };
  return bytesViolation(field, text, maxBytes);
}
