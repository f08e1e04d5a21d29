import type http from "node:http";
import http2 from "node:http2";
import type { Socket } from "node:net";
import type { Handler } from "./http1-server.js";

type Headers = http2.IncomingHttpHeaders;

export interface Http2Options {
  readonly requestTimeoutMs: number;
  readonly keepAliveMs: number;
  readonly maxHeaderBytes: number;
  readonly onStream: (stream: http2.ServerHttp2Stream, headers: Headers) => boolean;
}

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_PROTOCOL_ERROR } = http2.constants;

/** Protocols in which a request may stay open as long as its call: gRPC, gRPC-Web, Connect's streams. */
const STREAMING = /^application\/(grpc|connect\+)/;

/** An HTTP/2 connection that is being served. */
export interface Http2Connection {
  readonly socket: Socket;
  readonly session: http2.ServerHttp2Session;
  /** Those that are open. */
  readonly streams: ReadonlySet<http2.ServerHttp2Stream>;
}

/** Serves HTTP/2 on a socket of which nothing has been consumed, cleartext or TLS. */
export function serveHttp2(socket: Socket, handler: Handler, options: Http2Options): Http2Connection {
  const session = http2.performServerHandshake(socket, {
    settings: { maxConcurrentStreams: 100, maxHeaderListSize: options.maxHeaderBytes },
    maxSessionInvalidFrames: 100,
    maxSessionMemory: 10,
  });
  // A peer's bad frames or reset: Node has closed the session, and nobody here waits for the news.
  session.on("error", ignore);

  const streams = new Set<http2.ServerHttp2Stream>();
  // Not session.setTimeout(): that one also fires on a silent stream, and a PING puts it off.
  const idle = setTimeout(() => {
    if (streams.size > 0) return;
    // A closed session waits for the peer to hang up too, and even a destroyed one until the peer has read
    // all that was written: so whoever is still there one period after GOAWAY is cut.
    if (session.closed || session.destroyed) return void socket.destroy();
    session.close();
    idle.refresh();
  }, options.keepAliveMs);
  socket.once("close", () => clearTimeout(idle));

  // The types leave out Node's fourth argument, the raw headers.
  session.on("stream", (stream, headers, _flags, ...[rawHeaders = []]: string[][]) => {
    streams.add(stream);
    stream.once("close", () => {
      streams.delete(stream);
      if (streams.size === 0 && !socket.destroyed) idle.refresh();
    });
    // A reset by either side is an 'error' on the stream, fatal to the process if nobody listens.
    stream.on("error", ignore);
    // After a reset with NO_ERROR Node waits for 'end', and an answer written meanwhile fails the stream, so
    // that neither 'end' nor 'close' comes. Not at once: if it is we who reset, the frame is sent after this.
    stream.once("aborted", () => setImmediate(() => stream.destroy()));
    serveStream(stream, headers, rawHeaders, handler, options);
  });
  return { socket, session, streams };
}

/** The short lane, or what Node's compatibility layer does (internal/http2/compat.js, onServerStream). */
function serveStream(
  stream: http2.ServerHttp2Stream,
  headers: Headers,
  rawHeaders: string[],
  handler: Handler,
  options: Http2Options,
): void {
  // CONNECT has no :path, so no router can take it. Node's HTTP/1 server hangs up on it as well.
  if (headers[":method"] === "CONNECT") {
    stream.close(NGHTTP2_PROTOCOL_ERROR);
    return;
  }
  // Node does the same, but only once the client has acknowledged the settings that announce the limit.
  if (headerListSize(rawHeaders) > options.maxHeaderBytes) {
    stream.close(NGHTTP2_ENHANCE_YOUR_CALM);
    return;
  }
  if (options.onStream(stream, headers)) return;

  const req = new http2.Http2ServerRequest(stream, headers, { emitClose: false }, rawHeaders);
  const res = new http2.Http2ServerResponse(stream);
  failOnAbort(stream, req);
  if (headers.expect === "100-continue") res.writeContinue();
  if (!stream.endAfterHeaders && !STREAMING.test(headers["content-type"] ?? "")) {
    limitRequestTime(stream, options.requestTimeoutMs);
  }
  handler(req as unknown as http.IncomingMessage, res as unknown as http.ServerResponse);
}

/** As SETTINGS_MAX_HEADER_LIST_SIZE counts it (RFC 9113, section 6.5.2); names and values take turns. */
function headerListSize(rawHeaders: readonly string[]): number {
  let size = (rawHeaders.length / 2) * 32;
  for (const text of rawHeaders) size += text.length;
  return size;
}

/**
 * Half a body must not pass for a whole one. The compatibility layer ends an aborted request as if it were
 * complete, and Fastify then runs the route with what has come; an HTTP/1 request fails instead, so this one
 * does as well. 'close' still comes from the compatibility layer, hence `emitClose: false` above.
 */
function failOnAbort(stream: http2.ServerHttp2Stream, req: http2.Http2ServerRequest): void {
  req.on("error", ignore);
  stream.once("aborted", () => {
    if (!stream.endAfterHeaders && !stream.readableEnded) req.destroy(new Error("the request was aborted"));
  });
}

/**
 * Resets a stream whose request is not complete in time. It asks for END_STREAM when the time is up rather
 * than wait for 'end', which does not come if the handler does not read. A complete request may be answered
 * for hours.
 */
function limitRequestTime(stream: http2.ServerHttp2Stream, timeoutMs: number): void {
  const timer = setTimeout(() => {
    if (stream.state.remoteClose !== 1) stream.close(NGHTTP2_CANCEL);
  }, timeoutMs);
  stream.once("close", () => clearTimeout(timer));
}

function ignore(): void {}
