import type { Limits } from "../runner.js";
import { createTail } from "./tail.js";

/** Stands between a program's output and the parser. */
export interface OutputGuard {
  /** The pieces of a chunk that belong to lines which may be messages. */
  pass(chunk: Buffer): Buffer[];
  /** Bytes that are not read but cost us time all the same: stderr. */
  count(bytes: number): void;
  /** A new prompt: the counts begin again. */
  reset(): void;
  /** The end of what was no message. */
  junk(): string;
}

const NEWLINE = 0x0a;
const BRACE = 0x7b;
const BLANKS = new Set([0x20, 0x09, 0x0d]);
const JUNK_TAIL = 4096;

/**
 * Drops lines that cannot be messages (programs print banners and warnings to the wrong stream) and calls `exceeded`,
 * once, with a sentence when there is too much of anything. After that nothing passes.
 */
export function createOutputGuard(limits: Limits, exceeded: (why: string) => void): OutputGuard {
  const tail = createTail(JUNK_TAIL);
  let line: "blank" | "message" | "junk" = "blank";
  let lineBytes = 0;
  let junkBytes = 0;
  let outputBytes = 0;
  let over = false;

  const check = () => {
    const why =
      lineBytes > limits.lineBytes
        ? `a line of more than ${limits.lineBytes} bytes`
        : junkBytes > limits.junkBytes
          ? `more than ${limits.junkBytes} bytes that are no messages`
          : outputBytes > limits.outputBytes
            ? `more than ${limits.outputBytes} bytes in one turn`
            : undefined;
    if (why === undefined || over) return;
    over = true;
    exceeded(why);
  };

  /** A piece within one line; true when it belongs to a message. */
  const keep = (piece: Buffer): boolean => {
    const first = line === "blank" ? piece.find((byte) => !BLANKS.has(byte) && byte !== NEWLINE) : undefined;
    if (first !== undefined) line = first === BRACE ? "message" : "junk";
    lineBytes += piece.length;
    if (line !== "junk") return line === "message";
    junkBytes += piece.length;
    tail.push(Buffer.from(piece));
    return false;
  };

  return {
    pass(chunk) {
      outputBytes += chunk.length;
      const pieces: Buffer[] = [];
      for (let start = 0; start < chunk.length && !over; ) {
        const newline = chunk.indexOf(NEWLINE, start);
        const end = newline === -1 ? chunk.length : newline + 1;
        const piece = chunk.subarray(start, end);
        if (keep(piece)) pieces.push(piece);
        check();
        if (newline !== -1) {
          line = "blank";
          lineBytes = 0;
        }
        start = end;
      }
      return over ? [] : pieces;
    },
    count(bytes) {
      outputBytes += bytes;
      check();
    },
    reset() {
      outputBytes = 0;
      junkBytes = 0;
    },
    junk: () => tail.text(),
  };
}
