/** A piece of a path between two slashes: fixed text, or the value of a request field. */
export interface Segment {
  readonly kind: "literal" | "variable";
  /** The text itself, or the dotted path of the field. */
  readonly text: string;
}

export interface PathTemplate {
  /** As it stands in the rule. */
  readonly text: string;
  readonly segments: readonly Segment[];
}

const SEGMENT = /\/(?:([\w.~-]+)|\{([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:=\*)?\})/y;

/**
 * Reads `/v1/catalog/{ref.kind}/{ref.name}`. Of the grammar of google.api.http it takes literals and variables of
 * one segment; `*` and `**` outside of a variable, patterns inside of one and `:verbs` are refused.
 */
export function parsePathTemplate(text: string): PathTemplate {
  const segments: Segment[] = [];
  let end = 0;
  while (end < text.length || end === 0) {
    SEGMENT.lastIndex = end;
    const match = SEGMENT.exec(text);
    if (match === null) {
      throw new Error(
        `path template '${text}': cannot read '${text.slice(end)}'; only literals, {field.path} and {field.path=*} are served`,
      );
    }
    const [whole, literal, variable] = match;
    segments.push(
      literal === undefined
        ? { kind: "variable", text: variable as string }
        : { kind: "literal", text: literal },
    );
    end += whole.length;
  }
  return { text, segments };
}

/** Equal for templates that the same paths match, whatever their variables are called. */
export function shapeOf(template: PathTemplate): string {
  return template.segments.map(({ kind, text }) => (kind === "literal" ? `/${text}` : "/*")).join("");
}

/** The template as Fastify's router writes it; variables are called v0, v1, … in order. */
export function routerPath(template: PathTemplate): string {
  let variables = 0;
  return template.segments
    .map(({ kind, text }) => (kind === "literal" ? `/${text}` : `/:v${variables++}`))
    .join("");
}

/** Whether a path, split at its slashes and decoded, is one of the template's. */
export function matchesPath(template: PathTemplate, parts: readonly string[]): boolean {
  if (parts.length !== template.segments.length) return false;
  return template.segments.every(({ kind, text }, i) => kind === "variable" || text === parts[i]);
}
