import type { JsonObject } from "@bufbuild/protobuf";
import type { PutResourceResponse } from "../../../gen/retinue/v1/catalog_service_pb.js";
import type { Terminal } from "../terminal.js";
import { onceOf } from "./kinds.js";
import { documentOf, type Reference } from "./reference.js";

/** What became of a write, for people and for programs. */
export interface Outcome {
  readonly what: "created" | "updated" | "unchanged" | "proposed";
  readonly line: string;
  readonly record: JsonObject;
}

/** Tells a write from what was there before it. */
export function outcomeOf(
  { kind, name }: Reference,
  before: bigint | undefined,
  { generation, payload }: PutResourceResponse,
): Outcome {
  const document = documentOf(payload);
  if (generation === 0n) {
    const request = String(document.name ?? "");
    const line = `${kind}/${name} proposed: somebody else has to say retinue approve ${request}`;
    return { what: "proposed", line, record: { kind, name, what: "proposed", changeRequest: request } };
  }
  const what = before === generation ? "unchanged" : before === undefined ? "created" : "updated";
  const once = onceOf(kind, document);
  return {
    what,
    line: `${kind}/${name} ${what}, generation ${generation}`,
    record: {
      kind,
      name,
      what,
      generation: String(generation),
      ...(once === undefined ? {} : { secret: once }),
    },
  };
}

/** Secrets go to standard output by themselves, so that they can be piped to where they belong. */
export function printSecret(terminal: Terminal, { record }: Outcome): void {
  if (typeof record.secret !== "string") return;
  terminal.note("this is shown once and never again:");
  terminal.print(record.secret);
}
