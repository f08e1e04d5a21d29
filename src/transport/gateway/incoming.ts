import type { ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Incoming } from "../call.js";

/** An HTTP request as `call` sees it. */
export class HttpIncoming implements Incoming {
  readonly authorization: string | undefined;
  readonly #response: ServerResponse;
  #signal: AbortSignal | undefined;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.authorization = request.headers.authorization;
    this.#response = reply.raw;
  }

  get signal(): AbortSignal {
    this.#signal ??= abortedOnClose(this.#response);
    return this.#signal;
  }
}

/**
 * The response tells of a client that left, not the request, which closes as soon as its body is read. It closes
 * after an ordinary answer too, but then it has been ended. `writableFinished` would not do: HTTP/2 lacks it.
 */
function abortedOnClose(response: ServerResponse): AbortSignal {
  if (isClosed(response)) return AbortSignal.abort();
  const controller = new AbortController();
  response.once("close", () => {
    if (!response.writableEnded) controller.abort();
  });
  return controller.signal;
}

/** Whether 'close' has been emitted. */
export function isClosed(response: ServerResponse & { readonly stream?: ServerHttp2Stream }): boolean {
  return response.stream ? response.stream.destroyed : response.destroyed;
}
