import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { type RequestShape, requestHeaders } from "./requests.js";

const STREAMS_PER_CONNECTION = 100;
/** Opened at once; more would only wait in the server's backlog. */
const AT_ONCE = 200;

/** Calls that are held open, all of them seen by the server. */
export interface IdleCalls {
  close(): Promise<void>;
}

/**
 * Opens so many calls of one shape, on as few connections as the protocol allows. Streams have told their first
 * message when this returns; waits say nothing, so `settled` has to see them.
 */
export async function openIdle(
  port: number,
  key: string,
  shapes: readonly RequestShape[],
  count: number,
  streams: boolean,
): Promise<IdleCalls> {
  const open = shapes[0]?.protocol === "grpc" ? grpcOpener(port, key) : httpOpener(port, key);
  for (let at = 0; at < count; at += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, i) =>
      open.one(shapes[(at + i) % shapes.length] as RequestShape, streams),
    );
    await Promise.all(batch);
  }
  return { close: open.close };
}

interface Opener {
  one(shape: RequestShape, streams: boolean): Promise<void>;
  close(): Promise<void>;
}

function grpcOpener(port: number, key: string): Opener {
  const sessions: http2.ClientHttp2Session[] = [];
  let opened = 0;
  return {
    async one(shape, streams) {
      if (opened++ % STREAMS_PER_CONNECTION === 0) sessions.push(http2.connect(`http://127.0.0.1:${port}`));
      const session = sessions.at(-1) as http2.ClientHttp2Session;
      const headers = { ":method": "POST", ":path": shape.paths[0], ...requestHeaders(shape, key) };
      const stream = session.request(headers);
      stream.on("error", () => {});
      stream.end(shape.body);
      if (streams) await once(stream, "data");
      else await once(stream, "ready");
    },
    async close() {
      await Promise.all(
        sessions.map((session) => {
          const closed = once(session, "close");
          session.destroy();
          return closed;
        }),
      );
    },
  };
}

function httpOpener(port: number, key: string): Opener {
  const agent = new http.Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const requests: http.ClientRequest[] = [];
  return {
    async one(shape, streams) {
      const request = http.request({
        port,
        host: "127.0.0.1",
        agent,
        method: "POST",
        path: shape.paths[0],
        headers: requestHeaders(shape, key),
      });
      requests.push(request);
      request.on("error", () => {});
      request.end(shape.body);
      if (streams) {
        const [response] = (await once(request, "response")) as [http.IncomingMessage];
        response.on("error", () => {});
        await once(response, "data");
        response.resume();
      } else await once(request, "finish");
    },
    async close() {
      await Promise.all(
        requests.map(
          (request) =>
            new Promise((resolve) => {
              request.on("close", resolve);
              request.destroy();
            }),
        ),
      );
      agent.destroy();
    },
  };
}
