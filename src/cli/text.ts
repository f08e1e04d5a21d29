/**
 * Text of agents and other people, made fit for a terminal: what could move the cursor, change colours, retitle the
 * window or turn the writing around is taken out. Line ends and tabs stay.
 */
export function clean(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
}

/** The same on one line. */
export function oneLine(text: string): string {
  return clean(text).replace(/\s+/g, " ").trim();
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what is looked for
const STYLE = /\u001b\[[0-9;]*m/g;
const NARROW = /\p{M}|\u200b|\u200d|\ufe0f/u;
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}]/u;

/** Columns that a text takes, its colours aside. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text.replace(STYLE, "")) width += columnsOf(character);
  return width;
}

/** At most so many columns of a plain text, with a mark where it was cut. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const character of text) {
    width += columnsOf(character);
    if (width > columns - 1) break;
    kept += character;
  }
  return columns <= 0 ? "" : `${kept}…`;
}

function columnsOf(character: string): number {
  if (NARROW.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
