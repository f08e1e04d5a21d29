import type { Socket } from "node:net";

/** What every HTTP/2 connection begins with (RFC 9113, section 3.4); no HTTP/1 request can. */
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/**
 * Reads the first bytes of a connection, puts them back and says once whether they are HTTP/2's. A peer
 * that has not sent enough to tell within `timeoutMs`, or hangs up before, is dropped and nothing is said.
 */
export function sniff(socket: Socket, timeoutMs: number, found: (isHttp2: boolean) => void): void {
  let seen: Buffer = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  const stop = () => clearTimeout(timer);
  socket.once("close", stop);
  socket.on("readable", peek);

  function peek(): void {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    seen = Buffer.concat([seen, chunk]);
    const length = Math.min(seen.length, PREFACE.length);
    const matches = PREFACE.compare(seen, 0, length, 0, length) === 0;
    if (matches && length < PREFACE.length) return;
    stop();
    socket.off("close", stop);
    socket.off("readable", peek);
    socket.unshift(seen);
    found(matches);
  }
}
