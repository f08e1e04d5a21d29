import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import type { TLSSocket } from "node:tls";
import type { Handler } from "../../src/transport/port/http1-server.js";
import { createPort, type PortOptions } from "../../src/transport/port/port.js";

export const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
export const SETTINGS = frame(4, 0, 0, "");
export const GET = "GET /hello HTTP/1.1\r\nhost: x\r\n\r\n";
export const HALF_POST = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc";

/** Time-outs are long unless a test is about them. */
export const OPTIONS: PortOptions = {
  maxConnections: 1000,
  headersTimeoutMs: 5000,
  requestTimeoutMs: 10_000,
  onStream: () => false,
};

/** A test that waits for what does not come fails by itself, and soon. */
export function it(name: string, run: (t: TestContext) => Promise<void>): void {
  test(name, { timeout: 10_000 }, run);
}

/** A port on loopback that is gone when the test is. */
export async function open(t: TestContext, handler: Handler, options: Partial<PortOptions> = {}) {
  const port = createPort(handler, { ...OPTIONS, ...options });
  t.after(() => port.drain(0));
  port.server.listen(0, "127.0.0.1");
  await once(port.server, "listening");
  const number = (port.server.address() as net.AddressInfo).port;
  return { ...port, port: number, url: `http${options.tls ? "s" : ""}://127.0.0.1:${number}` };
}

/** Answers with what it was asked, and over what. */
export const echo: Handler = async (req, res) => {
  const security = (req.socket as TLSSocket).encrypted ? "TLS" : "cleartext";
  const body = await text(req);
  res.end(`${req.httpVersion} ${security} ${req.method} ${req.url} ${body}`);
};

/** An HTTP/1 request of its own connection, unless an agent is given; a POST has the body "one". */
export async function ask1(url: string, options: https.RequestOptions = {}) {
  const req = (url.startsWith("https") ? https : http).request(url, { agent: false, ...options });
  req.end(options.method === "POST" ? "one" : undefined);
  const [res] = (await once(req, "response")) as [http.IncomingMessage];
  return { status: res.statusCode, headers: res.headers, body: await text(res) };
}

export function connect2(t: TestContext, url: string, options: http2.SecureClientSessionOptions = {}) {
  const session = http2.connect(url, options);
  session.on("error", () => {});
  t.after(() => session.destroy());
  return session;
}

export function post2(session: http2.ClientHttp2Session, headers: http2.OutgoingHttpHeaders = {}) {
  const stream = session.request({ ":method": "POST", ":path": "/", ...headers });
  stream.on("error", () => {});
  return stream;
}

export async function answer2(stream: http2.ClientHttp2Stream) {
  const headers = await new Promise<http2.IncomingHttpHeaders>((resolve, reject) => {
    stream.once("response", resolve);
    stream.once("error", reject);
    stream.once("close", () => reject(new Error("the stream was closed without an answer")));
  });
  return { status: Number(headers[":status"]), body: await text(stream) };
}

/** A bare connection; `closed` gives all that it received. With `allowHalfOpen` it does not hang up. */
export async function connectRaw(t: TestContext, port: number, { allowHalfOpen = false } = {}) {
  const socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen });
  socket.on("error", () => {});
  t.after(() => socket.destroy());
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
  });
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(received)));
  await once(socket, "connect");
  return { socket, closed };
}

/** The same, with the server's end of it. */
export async function connectBoth(t: TestContext, at: { port: number; server: net.Server }, options = {}) {
  const accepted = once(at.server, "connection");
  const raw = await connectRaw(t, at.port, options);
  const [peer] = (await accepted) as [net.Socket];
  return { ...raw, peer };
}

/** Writes one byte at a time, the next only when the server has read the one before. */
export async function drip(client: net.Socket, server: net.Socket, bytes: Buffer | string): Promise<void> {
  const start = server.bytesRead;
  for (const [i, byte] of Buffer.from(bytes as string).entries()) {
    client.write(Buffer.of(byte));
    await until(() => server.bytesRead > start + i || server.destroyed);
  }
}

/** For what has no event. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(setImmediate);
}

export async function connections(server: net.Server): Promise<number> {
  return new Promise((resolve, reject) => server.getConnections((e, n) => (e ? reject(e) : resolve(n))));
}

/** An HTTP/2 frame with a short payload on a low-numbered stream. */
export function frame(type: number, flags: number, streamId: number, payload: string): Buffer {
  const bytes = Buffer.from(payload, "latin1");
  return Buffer.concat([Buffer.of(0, 0, bytes.length, type, flags, 0, 0, 0, streamId), bytes]);
}

/** The envelope in a raw HTTP/1 answer that closes the connection and has this status. */
export function envelopeIn(answer: string, status: number): unknown {
  assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
  assert.match(answer, /\r\nconnection: close\r\n/i);
  return JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4));
}

export function deferred<T = void>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((r) => {
    resolve = r;
  });
  return { promise, resolve };
}

/** A CA, a server and a client that it has signed, and a stranger that has signed itself. */
export function makeCertificates() {
  const dir = mkdtempSync(join(tmpdir(), "port-test-"));
  const make = (name: string, options: string) => {
    const command = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 ${options}`;
    const files = ["-keyout", `${name}.key`, "-out", `${name}.crt`, "-subj", `/CN=${name}`];
    execFileSync("openssl", [...command.trim().split(" "), ...files], { cwd: dir, stdio: "pipe" });
    return { cert: readFileSync(join(dir, `${name}.crt`)), key: readFileSync(join(dir, `${name}.key`)) };
  };
  const signed = "-CA ca.crt -CAkey ca.key -addext basicConstraints=critical,CA:FALSE";
  try {
    const ca = make("ca", "").cert;
    const server = make("server", `${signed} -addext subjectAltName=IP:127.0.0.1`);
    return { ca, server, client: make("client", signed), stranger: make("stranger", "") };
  } catch (cause) {
    throw new Error("the TLS tests need the openssl command, version 3 or newer", { cause });
  } finally {
    rmSync(dir, { recursive: true });
  }
}
