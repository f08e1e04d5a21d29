import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";

// biome-ignore lint/suspicious/noExplicitAny: requests of agent programs have every shape
export type Json = any;

/** A request that came in, for tests to look at. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Json;
  /** The client hung up before the answer was whole. */
  aborted: boolean;
}

export interface Listener {
  readonly url: string;
  readonly requests: readonly Seen[];
  close(): Promise<void>;
}

/** Answers one request; false: it is not served. */
export type Handler = (request: Seen, response: ServerResponse) => Promise<boolean>;

/** A loopback server that keeps every request. */
export async function listen(handler: Handler): Promise<Listener> {
  const requests: Seen[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const seen: Seen = {
        method: request.method ?? "",
        path: new URL(request.url ?? "", "http://x").pathname,
        headers: request.headers,
        body: request.method === "POST" ? await bodyOf(request) : undefined,
        aborted: false,
      };
      requests.push(seen);
      response.on("close", () => {
        seen.aborted = !response.writableFinished;
      });
      if (!(await handler(seen, response))) sendJson(response, 404, { error: { message: "not served" } });
    })().catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else
        sendJson(response, 400, {
          type: "error",
          error: { type: "invalid_request_error", message: String(error) },
        });
    });
  });
  await new Promise<void>((resolve, reject) =>
    server.once("error", reject).listen(0, "127.0.0.1", () => resolve()),
  );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Server-sent events. */
export interface EventStream {
  readonly gone: AbortSignal;
  send(event: string, data: unknown): void;
  end(): void;
}

export function openEvents(response: ServerResponse): EventStream {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  return {
    gone: gone.signal,
    send(event, data) {
      if (!gone.signal.aborted) response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    },
    end: () => void response.end(),
  };
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function bodyOf(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = decoded(Buffer.concat(chunks), request.headers["content-encoding"]);
  return bytes.length === 0 ? undefined : JSON.parse(bytes.toString("utf8"));
}

function decoded(bytes: Buffer, encoding: string | undefined): Buffer {
  switch (encoding) {
    case "gzip":
      return gunzipSync(bytes);
    case "deflate":
      return inflateSync(bytes);
    case "br":
      return brotliDecompressSync(bytes);
    default:
      return bytes;
  }
}
