/** The end of a stream of bytes. */
export interface Tail {
  push(chunk: Buffer): void;
  text(): string;
}

/** Keeps the last `limit` bytes, with at most twice that in memory. */
export function createTail(limit: number): Tail {
  let chunks: Buffer[] = [];
  let length = 0;
  const compact = () => {
    const all = Buffer.concat(chunks);
    // A copy: a slice would hold on to everything before it.
    chunks = [Buffer.from(all.subarray(Math.max(0, all.length - limit)))];
    length = chunks[0]?.length ?? 0;
  };
  return {
    push(chunk) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > 2 * limit) compact();
    },
    text() {
      compact();
      return Buffer.concat(chunks).toString("utf8");
    },
  };
}

const LAST_WORDS = 2000;

/** The end of what a program said, fit for one error message: no control characters, no secrets of ours. */
export function lastWords(text: string, secrets: readonly string[]): string {
  let plain = text;
  for (const secret of secrets) if (secret !== "") plain = plain.replaceAll(secret, "***");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal or a log
  plain = plain.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]/g, "").replaceAll(/[\x00-\x08\x0b-\x1f\x7f]/g, "");
  plain = plain.trim();
  return plain.length > LAST_WORDS ? `…${plain.slice(-LAST_WORDS)}` : plain;
}
