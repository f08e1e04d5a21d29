import type { Colour, Paint } from "./paint.js";
import { cut, oneLine, widthOf } from "./text.js";

/** What stands in a table, and its colour. */
export interface Cell {
  readonly text: string;
  readonly colour?: Colour;
}

export interface Column {
  readonly title: string;
  readonly right?: boolean;
}

const GAP = 2;

/** Lines of a table. The last column takes what is left of the width and is cut there; Infinity: nothing is cut. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  paint: Paint,
  width: number,
): string[] {
  const texts = rows.map((row) => row.map(({ text }) => oneLineKeepingIndent(text)));
  const widths = columns.map(({ title }, i) =>
    Math.max(widthOf(title), ...texts.map((row) => widthOf(row[i] ?? ""))),
  );
  const last = columns.length - 1;
  const room = width - widths.slice(0, last).reduce((sum, column) => sum + column + GAP, 0);
  const lineOf = (cells: readonly string[], colourAt: (i: number) => Colour | undefined) =>
    cells
      .map((text, i) => {
        const shown = i === last ? cut(text, Math.max(room, (columns[i] as Column).title.length)) : text;
        const pad = " ".repeat(Math.max(0, (widths[i] as number) - widthOf(shown)));
        const painted = paint(colourAt(i), shown);
        if (columns[i]?.right) return pad + painted;
        return i === last ? painted : painted + pad;
      })
      .join(" ".repeat(GAP))
      .trimEnd();
  return [
    lineOf(
      columns.map(({ title }) => title),
      () => "dim",
    ),
    ...texts.map((cells, row) => lineOf(cells, (i) => rows[row]?.[i]?.colour)),
  ];
}

/** The branches of a tree are drawn with blanks. */
function oneLineKeepingIndent(text: string): string {
  const indent = /^[ │├└─]*/.exec(text)?.[0] ?? "";
  return indent + oneLine(text.slice(indent.length));
}
