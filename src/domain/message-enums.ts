import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { type FieldViolation, invalidFields } from "./fault.js";

type Check = (message: Message, at: string, out: FieldViolation[]) => void;

const checks = new WeakMap<DescMessage, Check | null>();

/**
 * Refuses enum numbers that nobody knows. The JSON reader does so by itself; on the wire enums are open, and a rule that
 * meets a number without a name would fail in a way that names no field.
 */
export function checkEnums(desc: DescMessage, message: Message): void {
  const check = checkOf(desc);
  if (check === null) return;
  const out: FieldViolation[] = [];
  check(message, "", out);
  if (out.length > 0) throw invalidFields(out);
}

/** Made once per type, and null for those without an enum anywhere: most calls pay nothing. */
function checkOf(desc: DescMessage): Check | null {
  const known = checks.get(desc);
  if (known !== undefined) return known;
  // For a type that holds itself: taken as free of enums until it is known better.
  checks.set(desc, null);
  const parts = desc.fields.flatMap((field) => partOf(field) ?? []);
  const check: Check | null =
    parts.length === 0
      ? null
      : (message, at, out) => {
          for (const part of parts) part(message, at, out);
        };
  checks.set(desc, check);
  return check;
}

function partOf(field: DescField): Check | undefined {
  const value = valueCheck(field);
  if (value === undefined) return undefined;
  const read = readerOf(field);
  return (message, at, out) => {
    const found = read(message);
    if (found === undefined) return;
    const path = at === "" ? field.jsonName : `${at}.${field.jsonName}`;
    if (field.fieldKind === "list") {
      (found as unknown[]).forEach((item, i) => {
        value(item, `${path}[${i}]`, out);
      });
    } else if (field.fieldKind === "map") {
      for (const [key, item] of Object.entries(found as object)) value(item, `${path}.${key}`, out);
    } else value(found, path, out);
  };
}

function valueCheck(
  field: DescField,
): ((value: unknown, at: string, out: FieldViolation[]) => void) | undefined {
  const { enum: desc, message } = field;
  if (desc) {
    return (value, at, out) => {
      if (desc.value[value as number]) return;
      const allowed = desc.values.map(({ name }) => name).join(", ");
      out.push({ field: at, description: `unknown value ${value}; allowed: ${allowed}` });
    };
  }
  const inner = message && checkOf(message);
  return inner ? (value, at, out) => inner(value as Message, at, out) : undefined;
}

/** Members of a oneof are kept apart from the message's own properties. */
function readerOf(field: DescField): (message: Message) => unknown {
  const { oneof, localName } = field;
  if (oneof === undefined) return (message) => (message as unknown as Record<string, unknown>)[localName];
  return (message) => {
    const chosen = (message as unknown as Record<string, { case?: string; value?: unknown }>)[
      oneof.localName
    ];
    return chosen?.case === localName ? chosen.value : undefined;
  };
}
