const FIRST_BYTES = 4096;
/** A single large answer must not keep its room for ever. */
const KEPT_BYTES = 1 << 20;
/** Below this a loop in JavaScript is faster than a call into the runtime. */
const SHORT_TEXT = 32;
const LOW_32_BITS = 2 ** 32;

/** Writes protobuf's wire format, front to back, one message after another into the same room, which grows as needed. */
export class ByteSink {
  #buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #at = 0;

  /** Begins anew, with so many bytes left free in front. */
  start(free: number): void {
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = Buffer.allocUnsafe(FIRST_BYTES);
    this.#at = free;
  }

  /** A copy of all that was written since `start`. */
  finish(): Buffer {
    const copy = Buffer.allocUnsafe(this.#at);
    this.#buffer.copy(copy, 0, 0, this.#at);
    return copy;
  }

  /** A whole number from 0 to 2^53. */
  varint(value: number): void {
    this.#reserve(10);
    let rest = value;
    for (; rest >= LOW_32_BITS / 2; rest = Math.floor(rest / 128)) {
      this.#buffer[this.#at++] = (rest % 128) | 128;
    }
    for (; rest >= 128; rest >>>= 7) this.#buffer[this.#at++] = (rest & 127) | 128;
    this.#buffer[this.#at++] = rest;
  }

  /** A number of 64 bits; one below zero as its complement. */
  varint64(value: bigint): void {
    if (value >= 0n && value <= Number.MAX_SAFE_INTEGER) {
      this.varint(Number(value));
      return;
    }
    this.#reserve(10);
    let rest = BigInt.asUintN(64, value);
    for (; rest >= 128n; rest >>= 7n) this.#buffer[this.#at++] = Number(rest & 127n) | 128;
    this.#buffer[this.#at++] = Number(rest);
  }

  double(value: number): void {
    this.#reserve(8);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  bytes(value: Uint8Array): void {
    this.varint(value.length);
    this.raw(value);
  }

  /** As it is, without a length. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#at);
    this.#at += value.length;
  }

  text(value: string): void {
    if (value.length < SHORT_TEXT && this.#shortAscii(value)) return;
    const length = Buffer.byteLength(value);
    this.varint(length);
    this.#reserve(length);
    this.#at += this.#buffer.write(value, this.#at, "utf8");
  }

  /** Leaves a place for the length of what follows; `close` fills it in. */
  open(): number {
    this.#reserve(1);
    return this.#at++;
  }

  close(opened: number): void {
    const begin = opened + 1;
    const length = this.#at - begin;
    if (length < 128) {
      this.#buffer[opened] = length;
      return;
    }
    // One byte is too little: what was written moves on by what its length takes more.
    const more = length < 1 << 14 ? 1 : length < 1 << 21 ? 2 : length < 1 << 28 ? 3 : 4;
    this.#reserve(more);
    this.#buffer.copyWithin(begin + more, begin, begin + length);
    this.#at = opened;
    this.varint(length);
    this.#at += length;
  }

  #shortAscii(value: string): boolean {
    this.#reserve(1 + SHORT_TEXT);
    const begin = this.#at + 1;
    for (let i = 0; i < value.length; i++) {
      const char = value.charCodeAt(i);
      if (char > 0x7f) return false;
      this.#buffer[begin + i] = char;
    }
    this.#buffer[this.#at] = value.length;
    this.#at = begin + value.length;
    return true;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#at + bytes, 2 * this.#buffer.length));
    this.#buffer.copy(grown, 0, 0, this.#at);
    this.#buffer = grown;
  }
}
