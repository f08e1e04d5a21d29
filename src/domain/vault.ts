/** What needs the server's master key, as rules see it. */
export interface Vault {
  /** Encrypts a text for one place; put anywhere else it does not open. */
  seal(place: string, text: string): Uint8Array;
  /** Throws FAILED_PRECONDITION where the master key is not the one that sealed it. */
  open(place: string, sealed: Uint8Array): string;
  /** 32 bytes that only this server can make again out of these two. */
  derive(purpose: string, nonce: string): Uint8Array;
}
