import type { Readable } from "node:stream";

/** What a client may still send of a body that nobody wants; past that it is cut off. */
const DROPPED_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Reads what is left of a request and throws it away. To answer a client that still sends, and hang up, would reset
 * its connection, and most clients then never see the answer. Resolves with whether the end was reached; how long
 * that may take is limited by the port's time-out for requests.
 */
export function dropBody(request: Readable): Promise<boolean> {
  if (request.readableEnded || request.destroyed) return Promise.resolve(true);
  return new Promise((resolve) => {
    let dropped = 0;
    request.on("data", (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped > DROPPED_MAX_BYTES) resolve(false);
    });
    request.once("end", () => resolve(true));
    request.once("error", () => resolve(false));
    request.once("close", () => resolve(false));
    request.resume();
  });
}
