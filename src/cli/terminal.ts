import { createPaint, type Paint } from "./paint.js";

/** Where a command writes: results to standard output, everything else to standard error. */
export interface Terminal {
  /** Both ends are a person: may be asked, and may be shown what moves. */
  readonly interactive: boolean;
  /** Standard output is a terminal. */
  readonly live: boolean;
  readonly paint: Paint;
  /** For lines on standard error. */
  readonly paintNote: Paint;
  columns(): number;
  rows(): number;
  print(line: string): void;
  /** As it is, without a line end. */
  write(text: string): void;
  note(line: string): void;
}

export function openTerminal(noColor: boolean): Terminal {
  const { stdin, stdout, stderr } = process;
  // Whoever reads us may have read enough: `retinue logs | head`.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit();
    throw error;
  });
  return {
    interactive: stdin.isTTY === true && stdout.isTTY === true,
    live: stdout.isTTY === true,
    paint: createPaint(!noColor && stdout.isTTY === true),
    paintNote: createPaint(!noColor && stderr.isTTY === true),
    columns: () => stdout.columns || 80,
    rows: () => stdout.rows || 24,
    print: (line) => void stdout.write(`${line}\n`),
    write: (text) => void stdout.write(text),
    note: (line) => void stderr.write(`${line}\n`),
  };
}
