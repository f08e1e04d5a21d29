import http2, { type ServerHttp2Stream } from "node:http2";

/** Time for a client to read the answer and stop sending by itself. */
const LINGER_MS = 500;

/**
 * For a request that was answered before it was complete: it must not hold its stream for as long as the
 * client likes. A reset at once is allowed (RFC 9113, 8.1), but Node's client then drops the answer it has.
 */
export function resetUnread(stream: ServerHttp2Stream): void {
  if (stream.readableEnded || stream.destroyed) return;
  const timer = setTimeout(() => stream.close(http2.constants.NGHTTP2_NO_ERROR), LINGER_MS);
  stream.once("close", () => clearTimeout(timer));
}
