/** Posts to addresses that tenants name. */
export interface Poster {
  /**
   * Resolves with the status of the answer, whatever it is; its body is not read. Redirects are not followed: what was
   * signed for one address is not for another. Rejects with `PostRefused` for an address that may not be reached, and
   * with a plain Error for one that cannot.
   */
  post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<number>;
}

/** The server's own rules forbid the address; trying again will not help. */
export class PostRefused extends Error {
  override readonly name = "PostRefused";
}
