import type http2 from "node:http2";
import net from "node:net";
import tls from "node:tls";
import { createHttp1Server, type Handler } from "./http1-server.js";
import { type Http2Connection, serveHttp2 } from "./http2-session.js";
import { sniff } from "./sniff.js";
import { createStallCutter } from "./stalled.js";

export interface PortOptions {
  /** With `clientCa` a client must present a certificate that this authority has signed. */
  readonly tls?: {
    readonly cert: string | Buffer;
    readonly key: string | Buffer;
    readonly clientCa?: string | Buffer;
  };
  /** Further connections are closed as soon as they are accepted. */
  readonly maxConnections: number;
  /** For the TLS handshake, the first bytes and an HTTP/1 head, each; not more than requestTimeoutMs. */
  readonly headersTimeoutMs: number;
  /** For a whole request, head and body. Answers may take any time, and so may gRPC and Connect streams. */
  readonly requestTimeoutMs: number;
  /** Default 16 KiB. */
  readonly maxHeaderBytes?: number;
  /** How long a connection may be without a request. Default 72 s, above the 60 s of usual proxies. */
  readonly keepAliveMs?: number;
  /** Plain unary gRPC takes a short lane on the raw stream; false leaves the stream to `handler`. */
  readonly onStream: (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => boolean;
}

export interface Port {
  /** Has what Fastify's `serverFactory` needs: listen, close, and three ways to close connections. */
  readonly server: net.Server;
  /**
   * Stops accepting, closes what is idle, lets requests in flight finish, cuts HTTP/2 clients that do not read, and
   * destroys what is left after `graceMs`. Resolves when the last socket is closed. Comes before `server.close()`, which has no limit.
   */
  drain(graceMs: number): Promise<void>;
}

/** HTTP/1.1 and HTTP/2 on one port, in cleartext or under TLS, told apart by their first bytes. */
export function createPort(handler: Handler, options: PortOptions): Port {
  const limits = { maxHeaderBytes: 16 * 1024, keepAliveMs: 72_000, ...options };
  if (limits.requestTimeoutMs < 1 || limits.headersTimeoutMs < 1) {
    throw new RangeError("headersTimeoutMs and requestTimeoutMs must be positive: Node takes 0 for no limit");
  }
  const front = createFront(options);
  const http1 = createHttp1Server(handler, limits, () => !front.listening);
  const sockets = new Set<net.Socket>();
  const undecided = new Set<net.Socket>();
  const connections = new Set<Http2Connection>();

  front.maxConnections = options.maxConnections;
  front.on("listening", () => http1.emit("listening"));
  front.on("close", () => http1.close());
  // A tls.Server, too, emits 'connection' for the bare socket, before the handshake.
  front.on("connection", (socket: net.Socket) => track(sockets, socket));
  front.on(options.tls ? "secureConnection" : "connection", accept);
  // Node reports a failed or late handshake but leaves the socket open.
  front.on("tlsClientError", (_error: Error, socket: tls.TLSSocket) => socket.destroy());

  function accept(socket: net.Socket): void {
    socket.on("error", () => {}); // ECONNRESET and the like: 'close' follows, and that is what others act on
    // The handshake began before the drain did.
    if (!front.listening) return void socket.destroy();
    track(undecided, socket);
    // Under TLS, too, the first bytes decide: ALPN is how the client knows what it may speak.
    sniff(socket, limits.headersTimeoutMs, (isHttp2) => {
      undecided.delete(socket);
      if (isHttp2) {
        const connection = serveHttp2(socket, handler, limits);
        connections.add(connection);
        socket.once("close", () => connections.delete(connection));
      } else http1.emit("connection", socket);
    });
  }

  const closers = {
    closeIdleConnections() {
      for (const socket of undecided) socket.destroy();
      http1.closeIdleConnections();
    },
    closeHttp2Sessions() {
      for (const { session } of connections) session.close();
    },
    closeAllConnections() {
      for (const socket of sockets) socket.destroy();
    },
  };

  async function drain(graceMs: number): Promise<void> {
    front.close();
    closers.closeHttp2Sessions();
    closers.closeIdleConnections();
    // A response whose head was sent before the drain keeps its HTTP/1 connection alive when it ends.
    const cutStalled = createStallCutter();
    const sweep = setInterval(() => {
      closers.closeIdleConnections();
      cutStalled(connections);
    }, 100);
    const hardStop = setTimeout(closers.closeAllConnections, graceMs);
    await Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve))));
    clearInterval(sweep);
    clearTimeout(hardStop);
  }

  return { server: Object.assign(front, closers), drain };
}

function createFront({ tls: secure, headersTimeoutMs }: PortOptions): net.Server {
  // Without TCP keep-alive a watcher whose machine is gone is found out only by the next event for it.
  const tcp = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };
  if (!secure) return net.createServer(tcp);
  const { cert, key, clientCa } = secure;
  const client = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  return tls.createServer({
    ...tcp,
    cert,
    key,
    ...client,
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: headersTimeoutMs,
  });
}

function track<T extends { once(event: "close", listener: () => void): unknown }>(
  set: Set<T>,
  item: T,
): void {
  set.add(item);
  item.once("close", () => set.delete(item));
}
