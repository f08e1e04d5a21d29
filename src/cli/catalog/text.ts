import { basename, dirname, extname } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { parseAllDocuments, stringify } from "yaml";
import { InputFormat } from "../../../gen/retinue/v1/catalog_pb.js";
import { usageError } from "../exit.js";

/** A document as it stands in a file. */
export interface Manifest {
  readonly kind: string;
  readonly name: string;
  readonly document: JsonObject;
  /** The file, for complaints. */
  readonly source: string;
}

/** The field that is the body of a Markdown document. */
const BODY = "instructions";
const FRONT_MATTER = /^---\r?\n([\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n|$)/;

/** A document as people write it: YAML, or Markdown with front matter. */
export function textOf(
  { kind, name, document }: Pick<Manifest, "kind" | "name" | "document">,
  format: InputFormat,
): string {
  if (format !== InputFormat.MARKDOWN) return yamlOf({ kind, name, ...document });
  const { [BODY]: body = "", ...fields } = document;
  return `---\n${yamlOf({ kind, name, ...fields })}---\n\n${String(body)}\n`;
}

/** What a file's name says. */
export function formatOf(source: string): InputFormat {
  return /\.(md|markdown)$/i.test(source) ? InputFormat.MARKDOWN : InputFormat.YAML;
}

/** The documents of a file. Kind and name stand in it, or are its folder's and its own name. */
export function manifestsOf(text: string, source: string): Manifest[] {
  const documents =
    formatOf(source) === InputFormat.MARKDOWN || isMarkdown(text)
      ? [markdown(text, source)]
      : yaml(text, source);
  return documents.map(({ kind = folderName(source), name = fileName(source), ...document }) => {
    if (typeof kind !== "string" || kind === "" || typeof name !== "string" || name === "") {
      throw usageError(
        `${source} does not say what it is`,
        "begin it with `kind: workspace` and `name: NAME`, or call it workspace/NAME.yaml",
      );
    }
    return { kind, name, document, source };
  });
}

function yamlOf(value: unknown): string {
  return stringify(value, { lineWidth: 0 });
}

/** Front matter followed by prose. Several YAML documents begin alike, but each of them is a mapping. */
function isMarkdown(text: string): boolean {
  const match = FRONT_MATTER.exec(text);
  if (match === null) return false;
  return parseAllDocuments(text.slice(match[0].length)).some(
    (rest) => rest.errors.length > 0 || typeof rest.toJS() === "string",
  );
}

function markdown(text: string, source: string): JsonObject {
  const match = FRONT_MATTER.exec(text);
  const [fields = {}] = match === null ? [] : yaml(match[1] ?? "", source);
  const body = text
    .slice(match?.[0].length ?? 0)
    .replace(/^\r?\n/, "")
    .replace(/\r?\n$/, "");
  return body === "" ? fields : { ...fields, [BODY]: body };
}

function yaml(text: string, source: string): JsonObject[] {
  return parseAllDocuments(text).flatMap((parsed) => {
    const [error] = parsed.errors;
    if (error !== undefined) throw usageError(`${source}: ${error.message}`);
    const value: unknown = parsed.toJS();
    if (value === null || value === undefined) return [];
    if (typeof value !== "object" || Array.isArray(value))
      throw usageError(`${source}: a document is a mapping of fields`);
    return [value as JsonObject];
  });
}

function folderName(source: string): string {
  return source === "-" ? "" : basename(dirname(source)).replace(/^\.+$/, "");
}

function fileName(source: string): string {
  return source === "-" ? "" : basename(source, extname(source));
}
