import { clone } from "@bufbuild/protobuf";
import { InputFormat, type Secret, SecretSchema } from "../../../../gen/retinue/v1/catalog_pb.js";
import { invalidField } from "../../fault.js";
import type { Kind, KindWrite, Settled } from "../kind.js";
import { bytesViolation, describedViolations, found } from "./field-rules.js";

/** Values become variables of processes, whose limit it is. */
const VALUE_MAX_BYTES = 64 * 1024;

export const secret: Kind<Secret> = {
  name: "secret",
  schema: SecretSchema,
  inputFormat: InputFormat.YAML,
  readScope: "keys:manage",
  writeScope: "keys:manage",
  proposable: false,
  builtins: new Map(),
  serverSet: ["valueVersion"],
  validate: (document) => [
    ...describedViolations(document),
    ...found(
      document.value.includes("\0")
        ? { field: "value", description: "must not contain the character U+0000" }
        : bytesViolation("value", document.value, VALUE_MAX_BYTES),
    ),
  ],
  settle: settleSecret,
};

/** Where a value is sealed: moved to another name or tenant it does not open. */
export function secretPlace(tenant: string, name: string): string {
  return `secret\n${tenant}\n${name}`;
}

/** Takes the value out of the document, so that neither reads nor history ever hold it. */
function settleSecret(write: KindWrite<Secret>): Settled<Secret> {
  const { tenant, name, before, beforeSealed, vault } = write;
  const document = clone(SecretSchema, write.document);
  const { value } = document;
  document.value = "";
  if (value === "") {
    if (before === undefined) throw invalidField("payload.value", "required: the secret itself");
    return { document };
  }
  const place = secretPlace(tenant, name);
  if (beforeSealed !== undefined && opens(write, beforeSealed) === value) return { document };
  document.valueVersion = (before?.valueVersion ?? 0n) + 1n;
  return { document, sealed: vault.seal(place, value) };
}

/** A value that cannot be opened any more is replaced like any other: that is how one recovers. */
function opens({ tenant, name, vault }: KindWrite<Secret>, sealed: Uint8Array): string | undefined {
  try {
    return vault.open(secretPlace(tenant, name), sealed);
  } catch {
    return undefined;
  }
}
