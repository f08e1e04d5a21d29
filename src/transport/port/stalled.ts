import http2 from "node:http2";
import type { Socket } from "node:net";

/** A connection as a drain sees it. */
export interface Draining {
  readonly socket: Socket;
  readonly streams: Iterable<http2.ServerHttp2Stream>;
}

/** How long a peer may take nothing of what waits for it, once the server stops. */
const STALL_MS = 1000;

/**
 * Cuts, while the port is drained, whoever does not read: a stream whose flow-control window the client leaves shut
 * would hold up the stop for all of its grace, and a connection that is said goodbye to until the peer says it too.
 * To be asked again and again.
 */
export function createStallCutter(nowMs: () => number = () => performance.now()) {
  const waiting = new WeakMap<object, { left: number; sinceMs: number }>();

  /** Whether so much has been left for so long; less than before is progress. */
  function isStalled(what: object, left: number): boolean {
    const before = waiting.get(what);
    if (before !== undefined && left >= before.left) return nowMs() - before.sinceMs >= STALL_MS;
    waiting.set(what, { left, sinceMs: nowMs() });
    return false;
  }

  return (connections: Iterable<Draining>): void => {
    for (const { socket, streams } of connections) {
      for (const stream of streams) {
        if (stream.bufferSize === 0) waiting.delete(stream);
        else if (isStalled(stream, stream.bufferSize)) stream.close(http2.constants.NGHTTP2_CANCEL);
      }
      // All is sent and our side is closed: what is missing is the peer's.
      if (socket.writableFinished && isStalled(socket, 0)) socket.destroy();
    }
  };
}
