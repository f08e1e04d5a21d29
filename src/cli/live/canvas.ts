import type { Terminal } from "../terminal.js";

const UP = (lines: number) => (lines > 0 ? `\u001b[${lines}A` : "");
const CLEAR_BELOW = "\u001b[0J";
const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";

/** A part of the terminal that is painted over again and again, at the place where the cursor was. */
export interface Canvas {
  draw(lines: readonly string[]): void;
  /** Leaves what was drawn last, and the cursor below it. */
  close(): void;
}

export function openCanvas(terminal: Terminal): Canvas {
  let height = 0;
  let open = true;
  terminal.write(HIDE_CURSOR);
  // However the program ends, the cursor must be back.
  const restore = () => terminal.write(SHOW_CURSOR);
  process.once("exit", restore);
  return {
    draw(lines) {
      if (!open) return;
      // What has scrolled away cannot be painted over: the top of a tall tree is what people look for.
      const room = Math.max(1, terminal.rows() - 1);
      const shown =
        lines.length <= room
          ? lines
          : [...lines.slice(0, room - 1), `… ${lines.length - room + 1} lines more`];
      terminal.write(`${UP(height)}\r${CLEAR_BELOW}${shown.map((line) => `${line}\n`).join("")}`);
      height = shown.length;
    },
    close() {
      open = false;
      process.off("exit", restore);
      restore();
    },
  };
}
