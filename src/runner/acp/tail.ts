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

export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce(
    (masked, secret) => (secret === "" ? masked : masked.replaceAll(secret, "***")),
    text,
  );
}

/** The end of what a program said, fit for one error message and for terminals. */
export function lastWords(text: string): string {
  const plain = text
    // Colours and the like, whole; then whatever else is no text.
    .replaceAll(/(?![\r\n\t])\p{Cc}\[[0-9;?]*[A-Za-z]/gu, "")
    .replaceAll(/(?![\n\t])\p{Cc}/gu, "")
    .trim();
  return plain.length > LAST_WORDS ? `…${plain.slice(-LAST_WORDS)}` : plain;
}
