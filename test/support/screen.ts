/** A character on the screen, with the codes of its colours. */
export interface Cell {
  readonly character: string;
  readonly style: string;
}

/** What a terminal shows of what was written to it. Knows the few codes that we and Node's prompts use, and no others. */
export interface Screen {
  write(text: string): void;
  /** The rows that can be seen, blanks at their ends left out. */
  lines(): string[];
  cells(): Cell[][];
  readonly cursorHidden: () => boolean;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
const SEQUENCE = /^\u001b\[(\??)([0-9;]*)([A-Za-z])/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
const UNFINISHED = /\u001b(\[[?0-9;]*)?$/;

export function createScreen(rows: number, columns: number): Screen {
  const screen: Cell[][] = Array.from({ length: rows }, () => []);
  let [row, column, style, hidden, pending] = [0, 0, "", false, ""];

  function lineFeed() {
    row += 1;
    if (row < rows) return;
    screen.shift();
    screen.push([]);
    row = rows - 1;
  }

  function put(character: string) {
    if (column >= columns) {
      column = 0;
      lineFeed();
    }
    const line = screen[row] as Cell[];
    while (line.length < column) line.push({ character: " ", style: "" });
    line[column] = { character, style };
    column += 1;
  }

  function control(isPrivate: boolean, argument: string, letter: string) {
    if (letter === "m") style = argument === "0" || argument === "" ? "" : argument;
    else if (letter === "A") row = Math.max(0, row - Number(argument || 1));
    else if (letter === "G") column = Number(argument || 1) - 1;
    else if (letter === "J" && (argument === "0" || argument === "")) {
      screen[row]?.splice(column);
      for (let below = row + 1; below < rows; below += 1) screen[below] = [];
    } else if (isPrivate && argument === "25") hidden = letter === "l";
    else if (!isPrivate || !"hl".includes(letter))
      throw new Error(`unknown sequence ESC[${argument}${letter}`);
  }

  return {
    write(text) {
      let rest = pending + text;
      pending = UNFINISHED.exec(rest)?.[0] ?? "";
      rest = rest.slice(0, rest.length - pending.length);
      while (rest !== "") {
        const sequence = SEQUENCE.exec(rest);
        if (sequence) {
          control(sequence[1] === "?", sequence[2] as string, sequence[3] as string);
          rest = rest.slice(sequence[0].length);
          continue;
        }
        const character = String.fromCodePoint(rest.codePointAt(0) as number);
        rest = rest.slice(character.length);
        if (character === "\r") column = 0;
        else if (character === "\n") lineFeed();
        else if (character === "\b") column = Math.max(0, column - 1);
        else if (character >= " ") put(character);
      }
    },
    lines: () =>
      screen.map((line) =>
        line
          .map(({ character }) => character)
          .join("")
          .trimEnd(),
      ),
    cells: () => screen.map((line) => [...line]),
    cursorHidden: () => hidden,
  };
}
