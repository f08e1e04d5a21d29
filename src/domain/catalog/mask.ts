import { clone, type DescField, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { protoCamelCase, type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { type Fault, invalidField } from "../fault.js";
import { fieldsByName } from "../message-json.js";
import { quoted } from "../name.js";

/** A path of an update mask that the document has. */
export interface MaskPath {
  /** From the document down to the field that the path names; never empty. */
  readonly fields: readonly [DescField, ...DescField[]];
  /** As in JSON, `settings.reasoningEffort`: joined with commas it is the mask again. */
  readonly text: string;
}

/** Whether a write replaces the whole document. */
export function isFullReplace(paths: readonly string[]): boolean {
  return paths.length === 0 || (paths.length === 1 && paths[0] === "*");
}

/**
 * Finds the fields that a mask names. Paths come as FieldMask holds them, in snake_case; JSON names are taken
 * too, because that is how the documents that a gRPC caller reads and writes spell them.
 */
export function resolveMask(schema: DescMessage, paths: readonly string[]): MaskPath[] {
  if (paths.length > 1 && paths.includes("*")) {
    throw invalidField(
      "updateMask",
      "'*' replaces the whole document and stands alone: leave out the other paths",
    );
  }
  const resolved = new Map<string, MaskPath>();
  for (const path of paths) {
    const mask = resolvePath(schema, path);
    resolved.set(mask.text, mask);
  }
  return [...resolved.values()];
}

/**
 * The target with each field of the mask taken from the patch: zero values count, what the patch lacks
 * is cleared, lists and maps are replaced whole. Everything outside the mask stays, except that setting one
 * member of a oneof unsets the other. Neither argument is changed.
 */
export function applyMask<D extends DescMessage>(
  schema: D,
  target: MessageShape<D>,
  patch: MessageShape<D>,
  paths: readonly MaskPath[],
): MessageShape<D> {
  const result = clone(schema, target);
  // Values are moved out of a copy, so that the result shares nothing with the patch.
  const source = reflect(schema, clone(schema, patch));
  for (const path of paths) copyField(reflect(schema, result), source, path.fields);
  return result;
}

function copyField(to: ReflectMessage, from: ReflectMessage, fields: readonly DescField[]): void {
  const [field, ...below] = fields;
  if (field === undefined) return;
  if (below.length === 0) {
    if (from.isSet(field)) to.set(field, from.get(field));
    else to.clear(field);
    return;
  }
  // `get` makes a message where none is set, on either side; it becomes part of the result only if there is
  // something in it, so that clearing `a.b` does not leave an empty `a` behind where there was none.
  const inner = to.get(field) as ReflectMessage;
  copyField(inner, from.get(field) as ReflectMessage, below);
  if (inner.fields.some((f) => inner.isSet(f))) to.set(field, inner);
}

function resolvePath(schema: DescMessage, path: string): MaskPath {
  const fields: DescField[] = [];
  let message: DescMessage | undefined = schema;
  for (const element of path.split(".")) {
    const above = fields.at(-1);
    if (message === undefined) throw refused(path, `${jsonText(fields)} ${nothingBelow(above)}`);
    const field: DescField | undefined = fieldsByName(message).get(element);
    if (field === undefined) {
      const where = above === undefined ? "the document" : jsonText(fields);
      const has = message.fields.map((f) => f.jsonName).join(", ");
      throw refused(path, `${where} has no field ${quoted(protoCamelCase(element))}; it has ${has}`);
    }
    fields.push(field);
    message = messageBelow(field);
  }
  return { fields: fields as [DescField, ...DescField[]], text: jsonText(fields) };
}

/** Timestamps and their like are single values in JSON: nobody sees their fields. */
function messageBelow(field: DescField): DescMessage | undefined {
  if (field.fieldKind !== "message") return undefined;
  return field.message.typeName.startsWith("google.protobuf.") ? undefined : field.message;
}

function nothingBelow(field: DescField | undefined): string {
  if (field?.fieldKind === "list") return "is a list, which is replaced whole: name it without what follows";
  if (field?.fieldKind === "map") return "is a map, which is replaced whole: name it without what follows";
  return "is a single value: name it without what follows";
}

function jsonText(fields: readonly DescField[]): string {
  return fields.map((field) => field.jsonName).join(".");
}

function refused(path: string, why: string): Fault {
  return invalidField("updateMask", `${quoted(protoCamelCase(path))}: ${why}`);
}
