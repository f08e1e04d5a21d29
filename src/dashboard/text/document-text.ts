import { parse, stringify } from "yaml";
import { InputFormat } from "../../../gen/retinue/v1/catalog_pb.js";
import type { Document } from "../state/documents.js";

/** The field that is the body of a Markdown document. */
const BODY = "instructions";
const FRONT = /^---\r?\n([\s\S]*?)\r?\n?---\r?\n?([\s\S]*)$/;

/** A document as people write it: YAML, or Markdown with the other fields as front matter. What the server keeps is left out. */
export function textOf({ meta: _meta, ...document }: Document, format: InputFormat): string {
  if (format !== InputFormat.MARKDOWN) return yamlOf(document);
  const { [BODY]: body = "", ...fields } = document;
  return `---\n${yamlOf(fields)}---\n${String(body)}`;
}

/** The other way; throws what is wrong with the text. */
export function documentFrom(text: string, format: InputFormat): Document {
  if (format !== InputFormat.MARKDOWN) return fieldsOf(text);
  const [, front, body] = FRONT.exec(text) ?? [];
  if (front === undefined) throw new Error("the fields must stand between two lines of --- at the top");
  return { ...fieldsOf(front), [BODY]: body ?? "" };
}

function yamlOf(document: Document): string {
  return Object.keys(document).length === 0 ? "" : stringify(document, { lineWidth: 100 });
}

function fieldsOf(text: string): Document {
  const value: unknown = parse(text) ?? {};
  if (typeof value !== "object" || Array.isArray(value)) throw new Error("must be a map of fields");
  return value as Document;
}
