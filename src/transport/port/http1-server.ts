import http from "node:http";
import type { Socket } from "node:net";
import { type Fault, malformed } from "../../domain/fault.js";
import { requestTimedOut } from "../grpc/request-faults.js";
import { toEnvelope } from "../status.js";

export type Handler = (req: http.IncomingMessage, res: http.ServerResponse) => void;

export interface Http1Limits {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveMs: number;
  readonly maxHeaderBytes: number;
}

/** How long a peer may take to read our last words before its connection is destroyed. */
const LINGER_MS = 1000;

const MALFORMED = envelope(malformed("malformed HTTP request"));
const NO_HOST = envelope(malformed("malformed HTTP request: the Host header is missing"));
const TOO_SLOW = envelope(requestTimedOut());

/**
 * The HTTP/1.1 half of the port. It does not listen: it is given sockets with `emit("connection", socket)`,
 * and `emit("listening")` must come before the first of them, because that is where Node sets up the list of
 * connections without which neither time-out is enforced and closeIdleConnections() finds nothing.
 * While `closing()` is true every response says `connection: close`.
 */
export function createHttp1Server(
  handler: Handler,
  limits: Http1Limits,
  closing: () => boolean,
): http.Server {
  // Decided when the head is written, not when the request comes in: so it reaches requests in flight too.
  class Response extends http.ServerResponse {
    override writeHead(...args: unknown[]): this {
      if (closing()) this.shouldKeepAlive = false;
      return super.writeHead(...(args as [number]));
    }
  }
  const server = http.createServer({
    ServerResponse: Response,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveMs,
    maxHeaderSize: limits.maxHeaderBytes,
    // Node looks for late requests every 30 s by default, which would turn a limit of 10 s into one of 40.
    connectionsCheckingInterval: Math.max(1, Math.min(1000, Math.floor(limits.headersTimeoutMs / 2))),
    // Node's own answer to a missing Host has no body; ours is below.
    requireHostHeader: false,
  });
  const serve: Handler = (req, res) => {
    if (req.headers.host !== undefined || req.httpVersion !== "1.1") return handler(req, res);
    const headers = {
      connection: "close",
      "content-type": "application/json",
      "content-length": NO_HOST.length,
    };
    res.writeHead(400, headers).end(NO_HOST);
  };
  server.on("request", serve);
  // Node's own answer is a 417 without a body; RFC 9110 lets us ignore an expectation that we do not know.
  server.on("checkExpectation", serve);
  server.on("clientError", onClientError);
  return server;
}

type Http1Socket = Socket & { readonly _httpMessage?: http.ServerResponse | null };

function onClientError(error: NodeJS.ErrnoException, socket: Http1Socket): void {
  // Our answer is on its way and the peer still sends: the linger below ends it.
  if (socket.writableEnded) return;
  // A response has begun, or the error is in what follows a whole request: an answer now would be taken for
  // the answer to that request, which may have taken effect. Node keeps the response due in `_httpMessage`.
  const current = socket._httpMessage;
  if (!socket.writable || current?.headersSent || current?.req.complete) {
    socket.destroy();
    return;
  }
  const late = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
  socket.end(late ? raw("504 Gateway Timeout", TOO_SLOW) : raw("400 Bad Request", MALFORMED));
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(linger));
}

function envelope(fault: Fault): string {
  return JSON.stringify(toEnvelope(fault));
}

function raw(status: string, body: string): string {
  const head = ["connection: close", "content-type: application/json", `content-length: ${body.length}`];
  return [`HTTP/1.1 ${status}`, ...head, "", body].join("\r\n");
}
