import { type DescMessage, type JsonValue, type MessageShape, toJson } from "@bufbuild/protobuf";
import { stringify } from "yaml";
import type { Terminal } from "./terminal.js";

export const FORMATS = ["table", "json", "yaml"] as const;
export type Format = (typeof FORMATS)[number];

/** A message as `/v1` would write it, defaults included. */
export function jsonOf<S extends DescMessage>(schema: S, message: MessageShape<S>): JsonValue {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}

/** Prints a result: for people as `lines` says, for programs as JSON or YAML. */
export function show(
  terminal: Terminal,
  format: Format,
  value: () => JsonValue,
  lines: () => string[],
): void {
  if (format === "json") terminal.print(JSON.stringify(value(), null, 2));
  else if (format === "yaml") terminal.write(stringify(value()));
  else for (const line of lines()) terminal.print(line);
}
