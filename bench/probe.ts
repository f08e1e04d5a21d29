import http2 from "node:http2";
import { type RequestShape, requestHeaders } from "./requests.js";

const WITHIN_MS = 5000;

/**
 * Sends a request once and returns the body of its answer. h2load looks at `:status` only, which is 200 for a
 * failed gRPC call too: so each case is seen to succeed here, and then held against the size of this answer.
 */
export function probe(port: number, request: RequestShape, key: string): Promise<Buffer> {
  return request.protocol === "grpc" ? probeGrpc(port, request, key) : probeHttp(port, request, key);
}

async function probeHttp(port: number, request: RequestShape, key: string): Promise<Buffer> {
  const response = await fetch(`http://127.0.0.1:${port}${request.paths[0]}`, {
    method: request.body === undefined ? "GET" : "POST",
    headers: requestHeaders(request, key),
    body: request.body ?? null,
    signal: AbortSignal.timeout(WITHIN_MS),
  });
  const body = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${request.paths[0]} answered ${response.status}: ${body}`);
  return body;
}

function probeGrpc(port: number, request: RequestShape, key: string): Promise<Buffer> {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  return new Promise<Buffer>((resolve, reject) => {
    session.on("error", reject);
    const path = request.paths[0] ?? "";
    const stream = session.request({ ":method": "POST", ":path": path, ...requestHeaders(request, key) });
    stream.setTimeout(WITHIN_MS, () => reject(new Error(`${path} has not answered`)));
    const chunks: Buffer[] = [];
    let status: unknown;
    let message: unknown;
    const note = (headers: http2.IncomingHttpHeaders) => {
      status ??= headers["grpc-status"];
      message ??= headers["grpc-message"];
    };
    stream.on("error", reject);
    stream.on("response", note);
    stream.on("trailers", note);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("close", () => {
      if (status === "0") resolve(Buffer.concat(chunks));
      else reject(new Error(`${path} answered grpc-status ${status}: ${message}`));
    });
    stream.end(request.body);
  }).finally(() => session.destroy());
}
