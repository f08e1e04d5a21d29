/**
 * Bytes of a request as they come in. The first chunk is kept as it is, and mostly it is all there is; what
 * follows is copied into a buffer that doubles. A list of chunks can be made to hold a hundred times the
 * memory of its bytes, by sending them one by one.
 */
export class RequestBytes {
  #buffer: Buffer | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** What has come so far; a view, not a copy. */
  get bytes(): Buffer {
    return this.#buffer === undefined ? EMPTY : this.#buffer.subarray(0, this.#size);
  }

  add(chunk: Uint8Array): void {
    const size = this.#size + chunk.length;
    if (this.#buffer === undefined) {
      this.#buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    } else {
      if (size > this.#buffer.length) {
        const grown = Buffer.allocUnsafe(Math.max(size, 2 * this.#buffer.length));
        grown.set(this.bytes);
        this.#buffer = grown;
      }
      this.#buffer.set(chunk, this.#size);
    }
    this.#size = size;
  }
}

const EMPTY = Buffer.alloc(0);
